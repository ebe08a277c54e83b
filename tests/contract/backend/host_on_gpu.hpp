#pragma once
// Adapts a backend for GPUs to host bytes, for the contract: copies the input to the rank's GPU, runs the call on its
// stream, waits for it, and copies the output back.
#include <distrun/runtime/collectives/device_backend.hpp>

#include "backend_contract.hpp"

namespace distrun::collectives {

class HostOnGpu final : public HostBackend {
 public:
  // `gpus` must outlive this.
  explicit HostOnGpu(DeviceBackend& gpus) : gpus_(gpus) {}

  void run(const Call& call) override;
  std::unique_ptr<Transfer> begin_send(const PointToPoint& message, ConstBytes bytes) override;
  std::unique_ptr<Transfer> begin_receive(const PointToPoint& message, Bytes bytes) override;
  void leave(Leaving how, const std::string& why) noexcept override { gpus_.leave(how, why); }

 private:
  DeviceBackend& gpus_;
};

}  // namespace distrun::collectives
