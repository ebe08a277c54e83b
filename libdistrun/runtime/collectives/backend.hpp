#pragma once
// The interface of a backend, which moves and reduces host bytes for the ranks of one group. Tensors, order, futures
// and argument checks belong to the group (process_group.hpp).
#include <memory>
#include <string>

#include <distrun/runtime/collectives/call.hpp>

namespace distrun::collectives {

class DeviceBackend;  // device_backend.hpp

// A point-to-point message in flight. Its bytes must stay in place until it has finished.
class Transfer {
 public:
  virtual ~Transfer() = default;
  // Blocks until the transfer is done; cancels it at the deadline. Returns the group rank of the peer. Call once.
  // Throws Error{Timeout}, base::PeerFailed, and Error{InvalidArgument} if the message has another size or dtype.
  virtual int finish(base::TimePoint deadline) = 0;
};

// How a rank leaves its group.
enum class Leaving : std::uint8_t { Done, GaveUp };

class Backend {
 public:
  Backend() = default;
  virtual ~Backend() = default;
  Backend(const Backend&) = delete;
  Backend& operator=(const Backend&) = delete;

  // Blocks. One call at a time, in the order of their numbers, on any thread. Throws Error{Timeout}, base::PeerFailed,
  // Error{InvalidArgument} if the ranks' calls differ, and Error{Cancelled} after leave(). Then the group cannot be
  // used.
  virtual void run(const Call& call) = 0;
  // Start a message, in the order of the calls, without blocking. Thread-safe, but one call at a time in each
  // direction.
  virtual std::unique_ptr<Transfer> begin_send(const PointToPoint& message, ConstBytes bytes) = 0;
  virtual std::unique_ptr<Transfer> begin_receive(const PointToPoint& message, Bytes bytes) = 0;
  // Makes the rank leave: waits for this rank, on all ranks, end with `why`. Thread-safe; the first call counts.
  virtual void leave(Leaving how, const std::string& why) noexcept = 0;
  // Called if the group stays open beyond the current test. Opens the descriptors and the thread that long waits need
  // now, so that they do not count as a leak of the first test that waits.
  virtual void prepare_to_stay() noexcept {}
  // Blocks until the calls on streams are done, at most until the deadline. The group stays open.
  virtual void settle(base::TimePoint /*deadline*/) noexcept {}
  // Returns the group ranks that the active call waits for, as far as known. Thread-safe.
  virtual std::vector<int> missing() const { return {}; }
  // Returns the interface to use instead of this one, except for leave(), if the backend moves bytes on GPUs; null if
  // it moves host bytes. Lives as long as the backend.
  virtual DeviceBackend* on_gpus() noexcept { return nullptr; }
};

}  // namespace distrun::collectives
