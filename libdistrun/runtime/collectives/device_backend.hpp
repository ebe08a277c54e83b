#pragma once
// What a backend is that moves bytes where they are, on GPUs. A call is put on a stream of the backend's own, which
// waits for what the calling thread's current stream has to do; the host goes on. Who wants the results waits for the
// work: by a stream (stream_work.hpp).
#include <functional>
#include <memory>
#include <string>

#include <distrun/runtime/collectives/call.hpp>
#include <distrun/runtime/collectives/stream_work.hpp>
#include <distrun/runtime/device/device.hpp>
#include <distrun/runtime/tensor/core/tensor.hpp>

namespace distrun::collectives {

// A call whose bytes are all on one GPU; or a letter, of which `root` is the other's place.
struct StreamCall {
  Call call;
  device::Device gpu;
  TensorList touched;            // whose memory it uses
  std::function<void()> behind;  // puts on the current stream what comes after it there; empty: nothing
  bool async = false;            // a letter may be put on its stream later, by somebody else
};

// Any thread.
class DeviceBackend {
 public:
  // The rank's, for tensors that are nobody's.
  virtual device::Device gpu() const noexcept = 0;
  // Why it can't make such a call; empty: it can.
  virtual std::string why_not(const Call& call) const = 0;
  // Collectives in the order of their numbers. Throws what keeps the call from its stream; the group is of no use then.
  virtual std::shared_ptr<StreamWork> put(StreamCall call) = 0;
  // Groups are made of some of its ranks, and this one is in none: BackendOptions::parent of the others.
  virtual void stay_out(base::TimePoint deadline) = 0;
  // For who tells it to the user: what has gone wrong on a stream, and has ended the group; empty: nothing.
  virtual std::string why_over() = 0;

 protected:
  ~DeviceBackend() = default;
};

}  // namespace distrun::collectives
