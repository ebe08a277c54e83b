#pragma once
// The calls that this rank waits for, by number, and the timeout thread that ends overdue ones. Numbers increase. They
// index a table with a power of two of slots, which grows with the number of simultaneous calls: a reply finds its call
// in one step, and a call needs no allocation.
//
// Messages to a worker that does not answer use memory here, in transit, and there. So the bytes of the calls that wait
// for one worker's answers are counted, and those of all workers, and a call that would exceed a limit first waits for
// answers. Calls of a few bytes to a worker that answers never wait for others.
//
// The thread (core/deadline_thread.hpp) starts when a call first needs it, by watch_timeouts(). Calls that are answered
// in time cost it nothing.
#include <atomic>
#include <condition_variable>
#include <functional>
#include <limits>
#include <memory>
#include <mutex>
#include <optional>
#include <unordered_map>
#include <vector>

#include <distrun/common/base/clock.hpp>
#include <distrun/common/base/memory_share.hpp>
#include <distrun/runtime/core/deadline_thread.hpp>
#include <distrun/runtime/rpc/calls/result_type.hpp>

namespace distrun::board {
struct WaitInfo;
}

namespace distrun::rpc {

struct CallRequest;  // call_request.hpp
class ProfiledCall;  // profiled_call.hpp

struct PendingCall {
  // Distributed autograd's data on the message.
  struct Kept {
    std::int64_t context = -1;
    std::int64_t message = -1;  // -1: nothing
  };

  enum class Waits : std::uint8_t {
    ForAnswer,
    ForDecoder,  // its answer has arrived, and a handler decodes it
    ForTime,     // no call, but a rest until its deadline
  };

  std::uint64_t id = 0;  // 0: none
  WorkerKey peer;
  const char* name = "";        // the callee's; lives until the process ends
  base::Nanoseconds timeout{};  // 0: no limit
  base::TimePoint deadline;     // core::kForever: no deadline
  std::uint64_t bytes = 0;      // of its message, tensors included
  Waits waits = Waits::ForAnswer;
  bool holds_shutdown = true;                  // a graceful shutdown waits for its end
  const ResultType* type = &kResultOf<Value>;  // of the future
  std::shared_ptr<future::FutureState> future;
  Kept kept;
  std::shared_ptr<const CallRequest> again;  // sent if the callee lacks the graph function; null: it was sent along
  std::shared_ptr<ProfiledCall> profiled;    // null: not profiled
};

// Thread-safe.
class PendingCalls {
 public:
  using Expired = std::function<void(PendingCall)>;

  // `expired` is called on the timeout thread, without a lock.
  explicit PendingCalls(Expired expired);
  PendingCalls(const PendingCalls&) = delete;
  PendingCalls& operator=(const PendingCalls&) = delete;

  // The bytes of a call, and the limits for all calls that wait for its peer's answers, and for any answers. A single
  // call may have any size.
  struct Load {
    WorkerKey peer;
    std::uint64_t bytes = 0;
    std::uint64_t most = std::numeric_limits<std::uint64_t>::max();
    std::uint64_t most_of_all = std::numeric_limits<std::uint64_t>::max();
    std::uint64_t waiting = 0;  // set by next_id(), as is the next: bytes of the others
    std::uint64_t waiting_of_all = 0;
    bool is_call = true;  // false: a rest, which is never refused
  };
  // Returns the next number, reserved for add(); 0: no room for the call. Throws Error{Overloaded} beyond 1 M calls.
  std::uint64_t next_id(Load& load);
  std::uint64_t next_id();
  // Returns whether the peer's own calls leave no room: otherwise those of all workers do.
  static bool is_full_of_peer(const Load& load) noexcept { return !fits(load.bytes, load.waiting, load.most); }
  // Returns the workers that owe answers to calls with bytes.
  std::vector<WorkerId> owing() const;
  // The bytes of calls that may wait for any answers; a quarter of the machine's memory at first.
  std::uint64_t budget() const noexcept { return budget_.load(std::memory_order_relaxed); }
  void set_budget(std::uint64_t most) noexcept { budget_.store(most); }
  // Blocks until there may be room. Returns false at the deadline.
  bool wait_for_room(const Load& load, const board::WaitInfo& info, base::TimePoint deadline);
  // Removes the call with that number, or the reservation. Does nothing if it is gone already.
  void drop(std::uint64_t id) noexcept;
  // Adds a call with a number from next_id(), or one that was taken. Returns false if another call has its slot now.
  bool add(PendingCall call);
  // Removes and returns the call with that number to that worker; nullopt: it was answered, or has expired.
  std::optional<PendingCall> take(std::uint64_t id, WorkerKey peer);
  // The same at its deadline, even if its answer is being decoded.
  std::optional<PendingCall> take_late(std::uint64_t id, WorkerKey peer);
  // Takes the next call in place `place` or after it, except calls whose answers are being decoded. `place`: 0 at
  // first; set to where to go on. Returns nullopt at the end.
  std::optional<PendingCall> take_next(std::size_t& place, std::optional<WorkerKey> peer = {});
  // Has `expired` called for calls that are overdue at `deadline`, and for others when they are.
  void watch_timeouts(base::TimePoint deadline);

  // Counts the waiting calls, without those that hold no shutdown.
  int count() const;
  // Counts overdue calls until `expired` has returned; count() no longer includes them.
  int expiring() const;
  // Stops the thread. Not called on it.
  void stop() noexcept;

 private:
  static constexpr std::size_t kCallsMax = 1 << 20;
  // Each worker may owe answers to that much, also if the budget is used up.
  static constexpr std::uint64_t kAlwaysBytes = std::uint64_t{16} << 20;

  static bool fits(std::uint64_t bytes, std::uint64_t waiting, std::uint64_t most) noexcept {
    return waiting == 0 || (waiting <= most && bytes <= most - waiting);
  }

  // Calls `expired` for all overdue calls; returns the next deadline.
  base::TimePoint expire_due() noexcept;
  // These require mutex_.
  // Sets due_; returns the earliest deadline of the others.
  base::TimePoint find_due(base::TimePoint now);
  std::optional<PendingCall> take_due(std::uint64_t id) noexcept;
  PendingCall* find(std::uint64_t id, WorkerKey peer) noexcept;
  std::uint64_t waiting_for(WorkerId peer) const;
  bool has_room(const Load& load) const;
  void count(WorkerId peer, std::uint64_t bytes);
  PendingCall take_out(PendingCall& slot) noexcept;
  std::size_t place_of(std::uint64_t id) const noexcept { return id & (slots_.size() - 1); }
  void grow();

  const Expired expired_;
  std::atomic<std::uint64_t> budget_{base::quarter_of_memory()};
  mutable std::mutex mutex_;
  std::condition_variable room_;
  // Guarded by mutex_.
  int waiting_for_room_ = 0;
  std::unordered_map<WorkerId, std::uint64_t> loads_;  // bytes of the calls in slots_; 0: absent
  std::uint64_t load_of_all_ = 0;                      // the sum of these
  std::vector<PendingCall> slots_;
  std::size_t count_ = 0;
  std::size_t holding_none_ = 0;  // of these, those that hold no shutdown
  // Deadlines and numbers of overdue calls, until these have expired. Has room for all, so that no call needs memory to
  // expire.
  std::vector<std::pair<base::TimePoint, std::uint64_t>> due_;
  bool is_expiring_ = false;  // a call that was taken out
  std::uint64_t last_id_ = 0;
  core::DeadlineThread thread_;  // the last member: destroyed first
};

}  // namespace distrun::rpc
