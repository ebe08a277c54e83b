#pragma once
// The calls that this rank waits for, by their number, and the thread that ends those whose time is over. Numbers count
// up; a table of a power of two is as large as the calls that wait at the same time, so that a reply finds its call in
// a step and no memory is taken for one.
//
// What is sent to a worker that does not answer stays in memory here, on the way, and there. So the calls that wait for
// one worker's answers are counted in bytes, and a call that would go beyond a limit waits for answers first.
//
// The thread is there once somebody may wait without looking himself (watch_timeouts()), and sleeps until the first
// deadline that it knows of: calls that are answered in time cost it nothing.
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
#include <distrun/common/base/thread.hpp>
#include <distrun/runtime/rpc/calls/result_type.hpp>

namespace distrun::board {
struct WaitInfo;
}

namespace distrun::rpc {

struct CallRequest;  // call_request.hpp
class ProfiledCall;  // profiled_call.hpp

struct PendingCall {
  // What distributed autograd keeps of the message.
  struct Kept {
    std::int64_t context = -1;
    std::int64_t message = -1;  // -1: nothing
  };

  enum class Waits : std::uint8_t {
    ForAnswer,
    ForDecoder,  // its answer has come, and a handler reads it
    ForTime,     // it is no call: somebody rests until its deadline
  };

  std::uint64_t id = 0;  // 0: none
  WorkerKey peer;
  const char* name = "";        // of the callee; lives until the process ends
  base::Nanoseconds timeout{};  // 0: none
  base::TimePoint deadline;     // core::kForever: none
  std::uint64_t bytes = 0;      // of its message, with the tensors
  Waits waits = Waits::ForAnswer;
  bool holds_shutdown = true;                  // a graceful shutdown waits for its end
  const ResultType* type = &kResultOf<Value>;  // of the future
  std::shared_ptr<future::FutureState> future;
  Kept kept;
  std::shared_ptr<const CallRequest> again;  // to be sent with all that the callee may have had once; null: it was
  std::shared_ptr<ProfiledCall> profiled;    // null: it is in no profile
};

// Any thread.
class PendingCalls {
 public:
  using Expired = std::function<void(PendingCall)>;

  // `expired` is called by the thread, without a lock.
  explicit PendingCalls(Expired expired);
  ~PendingCalls();
  PendingCalls(const PendingCalls&) = delete;
  PendingCalls& operator=(const PendingCalls&) = delete;

  // The bytes of a call, and how many may wait for its peer's answers together with it. A call that is alone may have
  // any size.
  struct Load {
    WorkerKey peer;
    std::uint64_t bytes = 0;
    std::uint64_t most = std::numeric_limits<std::uint64_t>::max();
    std::uint64_t waiting = 0;  // set by next_id(): bytes of the others
    bool is_call = true;        // else it is a rest, which is never refused
  };
  // The next number, kept for the call that add() is given; 0: there is no room for the call. Throws
  // Error{Overloaded} beyond 1 M calls.
  std::uint64_t next_id(Load& load);
  std::uint64_t next_id();
  // Until there may be room, or the deadline: false.
  bool wait_for_room(const Load& load, const board::WaitInfo& info, base::TimePoint deadline);
  // Removes the call with that number, or the number alone. Does nothing if it is gone already.
  void drop(std::uint64_t id) noexcept;
  // One with a number of next_id(), or one that was taken: false, if there is another in its place by now.
  bool add(PendingCall call);
  // Of the call with that number to that worker; nothing: it has been answered, or has expired.
  std::optional<PendingCall> take(std::uint64_t id, WorkerKey peer);
  // The same at its deadline, also if its answer is being read.
  std::optional<PendingCall> take_late(std::uint64_t id, WorkerKey peer);
  // But for those whose answer is being read.
  std::vector<PendingCall> take_all(std::optional<WorkerKey> peer = {});
  // From now on `expired` is told of them.
  void watch_timeouts(base::TimePoint deadline);

  // But for those that hold no shutdown.
  int count() const;
  // Those whose time is over, until `expired` has returned: in count() no longer.
  int expiring() const;
  // Ends the thread. Not by it.
  void stop() noexcept;

 private:
  static constexpr std::size_t kCallsMax = 1 << 20;

  void watch();
  // With mutex_ held.
  std::vector<PendingCall> take_expired(base::TimePoint now);
  PendingCall* find(std::uint64_t id, WorkerKey peer) noexcept;
  std::uint64_t waiting_for(WorkerId peer) const;
  bool has_room(const Load& load) const;
  PendingCall take_out(PendingCall& slot) noexcept;
  std::size_t place_of(std::uint64_t id) const noexcept { return id & (slots_.size() - 1); }
  void grow();

  const Expired expired_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::condition_variable room_;
  // Guarded by mutex_.
  int waiting_for_room_ = 0;
  std::unordered_map<WorkerId, std::uint64_t> loads_;  // bytes of the calls of slots_; 0: not there
  std::vector<PendingCall> slots_;
  std::size_t count_ = 0;
  std::size_t holding_none_ = 0;  // of these, those that hold no shutdown
  std::size_t expiring_ = 0;
  std::uint64_t last_id_ = 0;
  bool is_stopped_ = false;
  std::optional<base::Thread> thread_;
  // When the thread looks again. Changed with mutex_ held, and read without: nearly all calls have more time than that.
  std::atomic<base::TimePoint> looks_at_;
};

}  // namespace distrun::rpc
