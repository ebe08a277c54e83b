#pragma once
// The interface of a backend that moves bytes on GPUs. A call runs on a stream of the backend, after the work on the
// calling thread's current stream; the host continues. Users of the results wait for the work, on a stream
// (stream_work.hpp).
#include <functional>
#include <memory>
#include <string>

#include <distrun/runtime/collectives/backend.hpp>
#include <distrun/runtime/collectives/call.hpp>
#include <distrun/runtime/collectives/stream_work.hpp>
#include <distrun/runtime/device/device.hpp>
#include <distrun/runtime/tensor/core/tensor.hpp>

namespace distrun::collectives {

// A call with all bytes on one GPU, or a point-to-point message, for which `root` is the peer's group rank.
struct StreamCall {
  Call call;
  device::Device gpu;
  TensorList touched;            // tensors used by the call
  std::function<void()> behind;  // puts the work that follows on the current stream; empty: none
  bool async = false;            // another thread may put a message on its stream later
};

// Thread-safe.
class DeviceBackend : public Backend {
 public:
  // Returns the rank's GPU, used where no tensor determines one.
  virtual device::Device gpu() const noexcept = 0;
  // Returns why the backend does not support the call; empty if it does.
  virtual std::string why_not(const Call& call) const = 0;
  // Puts a call on its stream; collectives in the order of their numbers. If it throws, the group can no longer be
  // used.
  virtual std::shared_ptr<StreamWork> put(StreamCall call) = 0;
  // Takes part in the creation of groups that have this one as BackendOptions::parent, on a rank that is in none of
  // them.
  virtual void stay_out(base::TimePoint deadline) = 0;
  // Returns the failure on a stream that ended the group, which the caller must report to the user; empty: none.
  virtual std::string why_over() = 0;
  // Blocks until the calls on streams are done, at most until the deadline. The group stays open.
  virtual void settle(base::TimePoint deadline) noexcept = 0;
};

}  // namespace distrun::collectives
