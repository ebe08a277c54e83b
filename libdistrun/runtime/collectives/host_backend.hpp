#pragma once
// The interface of a backend that moves and reduces host bytes for the ranks of one group. A call blocks its thread;
// the group runs async calls on other threads.
#include <memory>
#include <vector>

#include <distrun/runtime/collectives/backend.hpp>
#include <distrun/runtime/collectives/call.hpp>

namespace distrun::collectives {

// A point-to-point message in flight. Its bytes must stay in place until it has finished.
class Transfer {
 public:
  virtual ~Transfer() = default;
  // Blocks until the transfer is done; cancels it at the deadline. Returns the group rank of the peer. Call once.
  // Throws Error{Timeout}, base::PeerFailed, and Error{InvalidArgument} if the message has another size or dtype.
  virtual int finish(base::TimePoint deadline) = 0;
};

class HostBackend : public Backend {
 public:
  // Blocks. One call at a time, in the order of their numbers, on any thread. Throws Error{Timeout}, base::PeerFailed,
  // Error{InvalidArgument} if the ranks' calls differ, and Error{Cancelled} after leave(). Then the group cannot be
  // used.
  virtual void run(const Call& call) = 0;
  // Start a message, in the order of the calls, without blocking. Thread-safe, but one call at a time in each
  // direction.
  virtual std::unique_ptr<Transfer> begin_send(const PointToPoint& message, ConstBytes bytes) = 0;
  virtual std::unique_ptr<Transfer> begin_receive(const PointToPoint& message, Bytes bytes) = 0;
  // Returns the group ranks that the active call waits for, as far as known. Thread-safe.
  virtual std::vector<int> missing() const { return {}; }
};

}  // namespace distrun::collectives
