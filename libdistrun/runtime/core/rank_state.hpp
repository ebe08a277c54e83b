#pragma once
// The runtime's state of the rank that it works for: its line to the runner, failures of its peers, and objects that
// the rooms above have once per rank. A process that is a rank has one state; ranks that are threads have one each,
// which a thread finds through its ThreadState.
//
// States and their contents live until the process ends: a thread may wait, or draw random numbers, for longer than its
// test runs. Every function may be called from any thread.
#include <array>
#include <atomic>
#include <bitset>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>

#include <distrun/common/board/slot_reader.hpp>
#include <distrun/common/board/slot_writer.hpp>

namespace distrun::core {

// A rank's line to the runner: shows what the rank does, and reads what its peers do. Any thread.
class RankLine {
 public:
  virtual ~RankLine() = default;
  // Shows a wait of the calling thread; returns its number, for end_wait(). Neither function blocks or allocates.
  virtual int begin_wait(const board::WaitInfo& info, base::TimePoint deadline) noexcept = 0;
  virtual void end_wait(int number) noexcept = 0;
  // note() shows an operation that was done or begun; progress() shows that the rank has made progress. Neither blocks
  // or allocates.
  virtual void note(board::WaitKind kind, std::string_view name, int peer, std::uint64_t id) noexcept = 0;
  virtual void progress() noexcept = 0;
  // Shows an error that was never read; returns its number, for hide_error(), or -1. Neither function blocks or
  // allocates.
  virtual int show_error(std::string_view) noexcept { return -1; }
  virtual void hide_error(int) noexcept {}
  // Returns what a rank of the world shows at this moment. Nothing: there is no such rank, or it shows nothing yet.
  virtual std::optional<board::Shown> look_at(int rank) const = 0;
};

// The failure of a peer, which ends the test.
struct PeerFailure {
  int rank = -1;    // -1: not a rank, but the suite's host
  std::string why;  // "rank 2 failed: it crashed by signal 11 (SIGSEGV)"
};

// A rank of the test whose process has ended.
struct Death {
  int rank = -1;
  int pid = 0;
};

// Objects that the rooms above have once per rank.
enum class Part : std::uint8_t { Random, Handlers, UnseenErrors, Groups, Calls, Session, Functions };
inline constexpr std::size_t kParts = 7;

class RankState {
 public:
  RankState() = default;
  RankState(const RankState&) = delete;
  RankState& operator=(const RankState&) = delete;

  // Returns the line; null: nothing is shown. A line that is set lives until the process ends.
  RankLine* line() const noexcept { return line_.load(std::memory_order_acquire); }
  void use(RankLine* line) noexcept { line_.store(line, std::memory_order_release); }

  // The rank's number in the test; -1: unknown.
  int number() const noexcept { return number_.load(std::memory_order_relaxed); }
  void set_number(int number) noexcept { number_.store(number, std::memory_order_relaxed); }

  // Returns the rank's only T, created at first use, with the RankState if T's constructor takes it. `part` identifies
  // T and is the same in all calls.
  template <class T>
  T& part(Part part) {
    void* const made = parts_[static_cast<std::size_t>(part)].load(std::memory_order_acquire);
    return *static_cast<T*>(made != nullptr ? made : make(part, [this] { return make_part<T>(); }));
  }

  // Returns the first peer failure of the running test; nothing: none.
  std::optional<PeerFailure> peer_failure() const;
  bool has_failed_peer() const noexcept { return has_failed_.load(std::memory_order_acquire); }

  // Called by the line. The first failure counts, and is passed to all PeerFailedCalls.
  void fail_peer(PeerFailure failure) noexcept;
  // Records that a peer has died as the test has declared: that is no failure, but waiting for the peer is in vain.
  void lose_peer(int rank) noexcept;
  // Remembers a death that has ended an operation of this rank, to pass it on to ranks that wait for this one. The
  // first of the test counts; declared deaths do not.
  void note_death(Death found);
  std::optional<Death> noted_death() const;
  // Forgets the failures of the last test when another one begins.
  void forget_failure();

 private:
  friend class PeerFailedCall;
  friend class PeerDiedCall;
  using Call = std::function<void(const PeerFailure&)>;
  static constexpr std::size_t kRanksMax = 1 << 15;  // ranks beyond are not remembered as dead

  template <class T>
  std::shared_ptr<T> make_part() {
    if constexpr (std::is_constructible_v<T, RankState&>) {
      return std::make_shared<T>(*this);
    } else {
      return std::make_shared<T>();
    }
  }
  void* make(Part part, const std::function<std::shared_ptr<void>()>& maker);
  static bool is_rank(int rank) noexcept { return rank >= 0 && static_cast<std::size_t>(rank) < kRanksMax; }
  bool is_dead(int rank) const noexcept { return is_rank(rank) && dead_.test(static_cast<std::size_t>(rank)); }

  std::atomic<RankLine*> line_{nullptr};
  std::atomic<int> number_{-1};
  std::array<std::atomic<void*>, kParts> parts_{};
  std::atomic<bool> has_failed_{false};
  mutable std::mutex mutex_;
  // Guarded by mutex_.
  std::array<std::shared_ptr<void>, kParts> owned_;
  std::optional<PeerFailure> failure_;
  std::optional<Death> noted_death_;
  // Held while calls run, and taken before mutex_: a call may wait for a thread that asks what has failed.
  std::mutex calling_;
  // Guarded by calling_.
  std::map<const void*, Call> calls_;  // by the object that registered it
  std::map<const void*, std::function<void(int rank)>> death_calls_;
  std::bitset<kRanksMax> dead_;  // declared deaths; changed with mutex_, too, so that either is enough to read it
};

// While it lives, calls `call` when a peer fails, at most once per test: on the thread that reads the rank's line, so
// `call` must be quick; or in the constructor, if a peer has failed already. The destructor waits for a running call,
// so it must not be called with a lock held that the call takes.
class PeerFailedCall {
 public:
  PeerFailedCall(RankState& rank, std::function<void(const PeerFailure&)> call);
  ~PeerFailedCall();
  PeerFailedCall(const PeerFailedCall&) = delete;
  PeerFailedCall& operator=(const PeerFailedCall&) = delete;

 private:
  RankState& rank_;
};

// Like PeerFailedCall for peers that die as the test has declared: called once for each, also for peers that are dead
// already.
class PeerDiedCall {
 public:
  PeerDiedCall(RankState& rank, std::function<void(int rank)> call);
  ~PeerDiedCall();
  PeerDiedCall(const PeerDiedCall&) = delete;
  PeerDiedCall& operator=(const PeerDiedCall&) = delete;

 private:
  RankState& rank_;
};

// Returns the state of the rank that the calling thread works for; if ranks are processes, the process's state.
RankState& rank_state() noexcept;
// Returns the rank of the peer with the number `id` among its peers (as a worker, for example) and the process `pid`;
// pid 0: unknown. A group may number its members differently, so the process decides. Returns -1 if no rank shows that
// process.
int rank_of_peer(int id, int pid) noexcept;
// Returns `rank` if it is on the board and its process has ended; else -1.
int rank_of_dead(int rank) noexcept;
// Returns whether a process of this machine has ended or is about to end: its descriptors are closed some time before.
bool is_ending(int pid) noexcept;
// Returns the process's state, for any thread.
RankState& process_rank_state() noexcept;

}  // namespace distrun::core
