#pragma once
// A backend for GPUs as one that moves bytes of the host, for the contract: what goes in is copied to the rank's GPU,
// the call is put on its stream and waited for, and what comes out is copied back.
#include <distrun/runtime/collectives/device_backend.hpp>

#include "backend_contract.hpp"

namespace distrun::collectives {

class HostOnGpu final : public Backend {
 public:
  // Of one that is on GPUs; it outlives this.
  explicit HostOnGpu(Backend& backend) : backend_(backend), gpus_(*backend.on_gpus()) {}

  void run(const Call& call) override;
  std::unique_ptr<Transfer> begin_send(const Letter& letter, ConstBytes bytes) override;
  std::unique_ptr<Transfer> begin_receive(const Letter& letter, Bytes bytes) override;
  void leave(Leaving how, const std::string& why) noexcept override { backend_.leave(how, why); }

 private:
  Backend& backend_;
  DeviceBackend& gpus_;
};

}  // namespace distrun::collectives
