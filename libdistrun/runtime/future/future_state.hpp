#pragma once
// What all handles of one future share, whatever the type of its value.
//
//   pending -> completing -> done, with a value or an error: once, whoever comes second gets an error
//
// What was attached before that (continuations) runs then on the handler pool of the rank, in the order in which it was
// attached; what is attached later runs at once on the attacher's thread. Either runs under the ThreadState of whoever
// attached it, with streams of the pool current on the future's devices, which come after the value. A future that goes
// away without having been done abandons its continuations: what they would have completed fails.
//
// Any thread, unless something else is said.
#include <atomic>
#include <bitset>
#include <condition_variable>
#include <exception>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include <distrun/common/base/clock.hpp>
#include <distrun/common/base/location.hpp>
#include <distrun/common/base/process_mark.hpp>
#include <distrun/runtime/core/thread_state.hpp>
#include <distrun/runtime/future/unseen_errors.hpp>
#include <distrun/runtime/future/value_streams.hpp>

namespace distrun::board {
enum class WaitKind : std::uint8_t;  // common/board/layout.hpp
}

namespace distrun::future {

class FutureState;
class Progress;  // progress.hpp

// What goes on when a future is done. Run or abandoned, once.
class Continuation {
 public:
  virtual ~Continuation() = default;
  virtual void run(const std::shared_ptr<FutureState>& done) noexcept = 0;
  // Instead, if it can't be run: the future went away, or no stream was to be had.
  virtual void abandon(FutureState& future, const std::exception_ptr& why) noexcept = 0;
  // Ours, and quick: it runs on the thread that completes the future, before the users' own.
  virtual bool is_quick() const noexcept { return false; }
};

// What a future is, for its waits and for reports.
struct FutureInfo {
  // Of a value that somebody sets by hand.
  explicit FutureInfo(base::Location made_at);

  board::WaitKind kind;
  const char* name = "";   // lives until the process ends
  std::uint64_t id = 0;    // what the kind counts
  std::bitset<256> peers;  // the ranks that it is waited for; more are not named
  base::Location made_at;
  std::vector<device::Device> devices;  // that its value may be on
  bool any_device = false;              // or on any other
  std::shared_ptr<Progress> progress;   // what completes it, if who waits can help with that
  bool follows_runtime = false;         // it is done once another one is that the runtime completes
  // Whether such an error, if nobody looks at it, fails the test; null: none does. Must not throw.
  bool (*is_failure)(const std::exception_ptr& error) = nullptr;

  // The program completes it, which it may do in a forked process as well.
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
  // Of one that is done; null: it has a value. Counts as looking at it.
  std::exception_ptr error() const;
  // Of one that is done: throws its error, the same each time.
  void throw_if_failed() const;
  // Whoever has the future has done with it what there is to do: an error of it is no surprise.
  void mark_seen() const;

  // Blocks until it is done; helps first, if there is somebody to help, and shows no wait as long. Throws
  // Error{Timeout} at the deadline, base::PeerFailed when a rank fails meanwhile: a wait for the future is a wait for
  // what other ranks do. Throws Error{Failed} in a forked process if it was not done at the fork, and
  // is completed by the runtime, which does so in the process that made it.
  void wait(base::TimePoint deadline, base::Location site) const;
  // The calling thread's streams wait for the value.
  void follow() const { streams_.follow(); }

  // Completing: who has begun stores the value, if there is one, and ends, once; nobody else reads or writes it before
  // that. False, and Error{Failed}: it has been completed, or is being.
  bool try_begin() noexcept;
  void begin(base::Location site);
  // Before it ends with a value: whoever waits for it also comes after what the calling thread's current streams of
  // these GPUs have to do when it ends.
  void comes_after(std::vector<device::Device> devices) noexcept { also_ = std::move(devices); }
  // With a value. What is wrong with it becomes the future's error.
  void end_with_value() noexcept;
  void end(std::exception_ptr error) noexcept;  // null: with a value that holds no tensors

  // Tells an error that nobody can ever see in the rank's report.
  void tell_lost(const char* what, const std::exception_ptr& error) noexcept;

  // Throws Error{Failed} as wait() does in a forked process.
  void attach(std::unique_ptr<Continuation> continuation);

 protected:
  virtual void visit_value(const TensorVisitor& visit) const = 0;

 private:
  enum class Stage : std::uint8_t { Pending, Completing, Done };
  friend class FutureTask;

  struct Attached {
    std::unique_ptr<Continuation> continuation;
    core::ThreadState state;  // of who attached it
  };

  void help(base::TimePoint deadline) const noexcept;
  void dispatch(std::vector<Attached> attached) noexcept;
  void abandon(const std::vector<Attached>& attached, const std::exception_ptr& why) noexcept;
  void run(Attached& attached) noexcept;
  void use_new_streams() const;
  void tell_failure() noexcept;
  void refuse_if_inherited(base::Location site) const;

  const FutureInfo info_;
  core::RankState& rank_;  // whose future it is
  const base::ProcessMark mark_;
  std::atomic<Stage> stage_{Stage::Pending};
  mutable std::mutex mutex_;
  mutable std::condition_variable changed_;
  mutable std::atomic<int> waiting_{0};  // for changed_; goes up with mutex_ held
  std::vector<Attached> attached_;       // guarded by mutex_
  // Set before the stage is Done, and not changed any more.
  std::exception_ptr error_;
  std::vector<device::Device> also_;
  ValueStreams streams_;
  mutable UnseenError unseen_;
};

}  // namespace distrun::future
