#pragma once
// What the runtime knows of the rank that it works for: its line to whoever runs it, news of its peers, and what the
// rooms above have once per rank. A process that is a rank has one; ranks that are threads of a process have one each,
// and a thread finds its rank's through its ThreadState.
//
// States and what is in them live until the process ends: a thread may wait, or draw random numbers, for longer than
// its test runs. Every function may be called from any thread.
#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include <distrun/common/board/slot_reader.hpp>
#include <distrun/common/board/slot_writer.hpp>

namespace distrun::core {

// A rank's line to whoever runs it: where it shows what it does, and sees what its peers do. Any thread.
class RankLine {
 public:
  virtual ~RankLine() = default;
  // Shows a wait of the calling thread; its number, for end_wait(). Neither blocks or allocates.
  virtual int begin_wait(const board::WaitInfo& info, base::TimePoint deadline) noexcept = 0;
  virtual void end_wait(int number) noexcept = 0;
  // Shows an operation that was done or begun, and that the rank has got on. Neither blocks or allocates.
  virtual void note(board::WaitKind kind, std::string_view name, int peer, std::uint64_t id) noexcept = 0;
  virtual void progress() noexcept = 0;
  // Shows an error that nobody has looked at; its number, for hide_error(), or -1. Neither blocks or allocates.
  virtual int show_error(std::string_view) noexcept { return -1; }
  virtual void hide_error(int) noexcept {}
  // What a rank of the world shows at this moment. Nothing: there is no such rank, or it shows nothing yet.
  virtual std::optional<board::Shown> look_at(int rank) const = 0;
};

// A peer whose failure ends the test.
struct PeerFailure {
  int rank = -1;    // -1: none of them; the suite's host
  std::string why;  // "rank 2 failed: it crashed by signal 11 (SIGSEGV)"
};

// What the rooms above have once per rank.
enum class Part : std::uint8_t { Random, Handlers, UnseenErrors, Groups, Calls, Session, Functions };
inline constexpr std::size_t kParts = 7;

class RankState {
 public:
  RankState() = default;
  RankState(const RankState&) = delete;
  RankState& operator=(const RankState&) = delete;

  // Null: nothing is shown. `line` lives until the process ends.
  RankLine* line() const noexcept { return line_.load(std::memory_order_acquire); }
  void use(RankLine* line) noexcept { line_.store(line, std::memory_order_release); }

  // The rank's only T, made when it is first asked for; of the rank, if it can be. `part` says which T it is, the same
  // for all who ask.
  template <class T>
  T& part(Part part) {
    void* const made = parts_[static_cast<std::size_t>(part)].load(std::memory_order_acquire);
    return *static_cast<T*>(made != nullptr ? made : make(part, [this] { return make_part<T>(); }));
  }

  // Of the test that runs, the first that failed; nothing: none has.
  std::optional<PeerFailure> peer_failure() const;
  bool has_failed_peer() const noexcept { return has_failed_.load(std::memory_order_acquire); }

  // By the line. The first failure counts; calls back whoever has asked to be.
  void fail_peer(PeerFailure failure);
  // A peer has died as the test has declared: nothing has failed, but a wait for it is in vain.
  void lose_peer(int rank);
  // Another test begins: what failed in the last one is forgotten.
  void forget_failure();

 private:
  friend class PeerFailedCall;
  friend class PeerDiedCall;
  using Call = std::function<void(const PeerFailure&)>;

  template <class T>
  std::shared_ptr<T> make_part() {
    if constexpr (std::is_constructible_v<T, RankState&>) {
      return std::make_shared<T>(*this);
    } else {
      return std::make_shared<T>();
    }
  }
  void* make(Part part, const std::function<std::shared_ptr<void>()>& maker);

  std::atomic<RankLine*> line_{nullptr};
  std::array<std::atomic<void*>, kParts> parts_{};
  std::atomic<bool> has_failed_{false};
  mutable std::mutex mutex_;
  std::array<std::shared_ptr<void>, kParts> owned_;  // guarded by mutex_, and so is failure_
  std::optional<PeerFailure> failure_;
  // Held while calls run, and taken before mutex_: a call may wait for somebody who asks what has failed.
  std::mutex calling_;
  // Guarded by calling_.
  std::map<const void*, Call> calls_;  // by who asked
  std::map<const void*, std::function<void(int rank)>> death_calls_;
  std::vector<int> dead_;
};

// While it lives, `call` is called when a peer fails: by the thread that hears of it, which reads the rank's line, so
// it must be quick; or by the constructor, if one has failed already. Once at most in a test. A call that runs ends
// before the destructor returns: who takes a lock in it must not hold that here.
class PeerFailedCall {
 public:
  PeerFailedCall(RankState& rank, std::function<void(const PeerFailure&)> call);
  ~PeerFailedCall();
  PeerFailedCall(const PeerFailedCall&) = delete;
  PeerFailedCall& operator=(const PeerFailedCall&) = delete;

 private:
  RankState& rank_;
};

// The same of peers that die as the test has declared: once for each, also for those that are dead already.
class PeerDiedCall {
 public:
  PeerDiedCall(RankState& rank, std::function<void(int rank)> call);
  ~PeerDiedCall();
  PeerDiedCall(const PeerDiedCall&) = delete;
  PeerDiedCall& operator=(const PeerDiedCall&) = delete;

 private:
  RankState& rank_;
};

// That of the rank whose work the calling thread does; where ranks are processes, the process's.
RankState& rank_state() noexcept;
// The rank of the peer that has the number `id` among its peers, as a worker, and is that process; 0: it is not known.
// A group may number its members as it likes, so the process decides. -1: no rank shows itself as that.
int rank_of_peer(int id, int pid) noexcept;
// `rank`, if it shows itself and its process has ended; else -1.
int rank_of_dead(int rank) noexcept;
// Whether a process of this machine has ended, or is about to: its descriptors are closed some time before it has.
bool is_ending(int pid) noexcept;
// The process's, whoever asks.
RankState& process_rank_state() noexcept;

}  // namespace distrun::core
