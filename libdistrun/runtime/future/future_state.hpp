#pragma once
// The state that all handles of a future share, independent of the value's type.
//
//   pending -> completing -> done, with a value or an error: once; a second attempt to complete it gets an error
//
// Continuations that were attached before then run on the rank's handler pool, in the order of attachment; those
// attached later run at once on the attaching thread. Both run under the ThreadState of the attaching thread, with
// streams of the pool current on the future's devices, ordered after the value. A future that is destroyed before it is
// done abandons its continuations: the futures that they would have completed fail.
//
// Thread-safe, unless noted.
#include <atomic>
#include <condition_variable>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include <distrun/common/base/clock.hpp>
#include <distrun/common/base/location.hpp>
#include <distrun/common/base/process_mark.hpp>
#include <distrun/common/board/peer_set.hpp>
#include <distrun/runtime/core/thread_state.hpp>
#include <distrun/runtime/future/unseen_errors.hpp>
#include <distrun/runtime/future/value_streams.hpp>

namespace distrun::board {
enum class WaitKind : std::uint8_t;  // common/board/layout.hpp
}

namespace distrun::future {

class FutureState;
class Progress;  // progress.hpp

// Continues after a future is done. Exactly one of run() and abandon() is called, once.
class Continuation {
 public:
  virtual ~Continuation() = default;
  virtual void run(const std::shared_ptr<FutureState>& done) noexcept = 0;
  // Called if it can't be run: the future was destroyed, or no stream was available.
  virtual void abandon(FutureState& future, const std::exception_ptr& why) noexcept = 0;
  // Returns true for quick continuations of the runtime: they run on the thread that completes the future, before those
  // of users.
  virtual bool is_quick() const noexcept { return false; }
};

// Describes a future, for waits and reports.
struct FutureInfo {
  // Describes a future that the program completes by hand.
  explicit FutureInfo(base::Location made_at);

  board::WaitKind kind;
  const char* name = "";  // must live until the process ends
  std::uint64_t id = 0;   // counted by the kind
  board::PeerSet peers;   // the ranks that the wait is for
  base::Location made_at;
  std::vector<device::Device> devices;  // that its value may be on
  bool any_device = false;              // or on any other
  std::shared_ptr<Progress> progress;   // moves the work that completes it, if waiting threads can help
  bool follows_runtime = false;         // completed by a continuation of a future that the runtime completes
  // Returns whether such an error fails the test if it is never read; null: no error does. Must not throw.
  bool (*is_failure)(const std::exception_ptr& error) = nullptr;

  // Returns whether the program completes it, which is also possible in a forked process.
  bool is_by_hand() const noexcept;
};

class FutureState : public std::enable_shared_from_this<FutureState> {
 public:
  explicit FutureState(FutureInfo info);
  virtual ~FutureState();
  FutureState(const FutureState&) = delete;
  FutureState& operator=(const FutureState&) = delete;

  const FutureInfo& info() const noexcept { return info_; }
  bool is_done() const noexcept { return stage_.load(std::memory_order_acquire) == Stage::Done; }
  // Returns the error of a future that is done; null: it has a value. Marks the error as seen.
  std::exception_ptr error() const;
  // Throws the error of a future that is done, the same each time.
  void throw_if_failed() const;
  // Marks the future as handled: an error of it is not reported as unseen.
  void mark_seen() const;

  // Blocks until it is done. Helps its Progress first, if there is one, without recording a wait. Throws Error{Timeout}
  // at the deadline, and base::PeerFailed when a rank fails meanwhile, since the future depends on other ranks. Throws
  // Error{Failed} in a forked process if the future was not done at the fork and is completed by the runtime, which
  // does so only in the parent. `timeout`: the time that the caller was given, for the error's text; default: until
  // then.
  void wait(base::TimePoint deadline, base::Location site, std::optional<base::Nanoseconds> timeout = {}) const;
  // Orders the calling thread's streams after the value.
  void follow() const { streams_.follow(); }

  // Completing: the caller that has begun stores the value, if there is one, and ends, once; other threads don't access
  // the value before that. If the future is completed, or being completed, try_begin() returns false and begin() throws
  // Error{Failed}.
  bool try_begin() noexcept;
  // Returns whether it is completed, or being completed.
  bool has_begun() const noexcept { return stage_.load(std::memory_order_acquire) != Stage::Pending; }
  void begin(base::Location site);
  // Call before ending with a value: users of the value are then also ordered after the work on the calling thread's
  // current streams of these GPUs at the end.
  void comes_after(std::vector<device::Device> devices) noexcept { also_ = std::move(devices); }
  // Ends with a value. Errors of the value become the future's error.
  void end_with_value() noexcept;
  void end(std::exception_ptr error) noexcept;  // null: with a value that holds no tensors

  // Reports an error that can never be read in the rank's report.
  void tell_lost(const char* what, const std::exception_ptr& error) noexcept;

  // Throws Error{Failed} in a forked process as wait() does.
  void attach(std::unique_ptr<Continuation> continuation);

 protected:
  virtual void visit_value(const TensorVisitor& visit) const = 0;

 private:
  enum class Stage : std::uint8_t { Pending, Completing, Done };
  friend class FutureTask;

  struct Attached {
    std::unique_ptr<Continuation> continuation;
    core::ThreadState state;  // of the attaching thread
  };

  void help(base::TimePoint deadline) const noexcept;
  void dispatch(std::vector<Attached> attached) noexcept;
  void abandon(const std::vector<Attached>& attached, const std::exception_ptr& why) noexcept;
  void run(Attached& attached) noexcept;
  void use_new_streams() const;
  void tell_failure() noexcept;
  void refuse_if_inherited(base::Location site) const;

  const FutureInfo info_;
  core::RankState& rank_;  // rank of the future
  const base::ProcessMark mark_;
  std::atomic<Stage> stage_{Stage::Pending};
  mutable std::mutex mutex_;
  mutable std::condition_variable changed_;
  mutable std::atomic<int> waiting_{0};  // waiters of changed_; increased with mutex_ held
  std::vector<Attached> attached_;       // guarded by mutex_
  // Set before the stage is Done, then constant.
  std::exception_ptr error_;
  std::vector<device::Device> also_;
  ValueStreams streams_;
  mutable UnseenError unseen_;
};

}  // namespace distrun::future
