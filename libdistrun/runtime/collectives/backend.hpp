#pragma once
// What a backend is: it moves and reduces bytes of the host for the ranks of one group. Tensors, order, futures and
// checks of arguments are the group's (process_group.hpp).
#include <memory>
#include <string>

#include <distrun/runtime/collectives/call.hpp>

namespace distrun::collectives {

class DeviceBackend;  // device_backend.hpp

// A letter on its way. Its bytes stay where they are until it has ended.
class Transfer {
 public:
  virtual ~Transfer() = default;
  // Until it is done; at the deadline it is taken back. The place of who has sent it, or to whom it went. Once. Throws
  // Error{Timeout}, base::PeerFailed, and Error{InvalidArgument} if what comes has another size or dtype.
  virtual int finish(base::TimePoint deadline) = 0;
};

// How a rank goes.
enum class Leaving : std::uint8_t { Done, GaveUp };

class Backend {
 public:
  Backend() = default;
  virtual ~Backend() = default;
  Backend(const Backend&) = delete;
  Backend& operator=(const Backend&) = delete;

  // Blocks; one at a time, in the order of their numbers, on any thread. Throws Error{Timeout}, base::PeerFailed,
  // Error{InvalidArgument} if ranks do not call the same, Error{Cancelled} after leave(). The group is of no use then.
  virtual void run(const Call& call) = 0;
  // In the order in which the letters are meant; does not block. Any thread, but one at a time for each direction.
  virtual std::unique_ptr<Transfer> begin_send(const Letter& letter, ConstBytes bytes) = 0;
  virtual std::unique_ptr<Transfer> begin_receive(const Letter& letter, Bytes bytes) = 0;
  // The rank goes: whoever waits for it, here or elsewhere, ends with `why`. Any thread; the first time counts.
  virtual void leave(Leaving how, const std::string& why) noexcept = 0;
  // The group stays open beyond the test that is over. What waits open when they first last long, descriptors and a
  // thread, is opened now: else it would be the leak of whatever test is the first to wait.
  virtual void prepare_to_stay() noexcept {}
  // Blocks until its calls on streams are done, or the deadline. The group stays open.
  virtual void settle(base::TimePoint /*deadline*/) noexcept {}
  // Places of those that the call under way waits for, as far as that is known. Any thread.
  virtual std::vector<int> missing() const { return {}; }
  // Of one that moves bytes on GPUs, and none of the host: what is asked instead of the above, but for leave(). Lives
  // as long. Null: it moves bytes of the host.
  virtual DeviceBackend* on_gpus() noexcept { return nullptr; }
};

}  // namespace distrun::collectives
