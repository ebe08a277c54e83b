#pragma once
// The cause of a hang as plain data, for records and reports: found by causes.hpp, put into words by cause_text.hpp.
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <distrun/common/base/clock.hpp>
#include <distrun/common/base/rank_hosts.hpp>

namespace distrun::runner {

// The closed list of causes. The names are part of the report's schema.
enum class HangKind : std::uint8_t {
  Deadlock,              // threads that wait for each other in a cycle
  SelfDeadlock,          // a thread waits for what only the same thread can do
  HeldLock,              // the holder of a lock sleeps, computes, has exited or was lost
  MissingRank,           // a rank has not arrived in a barrier or collective
  MismatchedCollective,  // ranks of one group are in different barriers or collectives
  CollectiveOrder,       // ranks call the collectives of several groups in different orders
  UnsentMessage,         // a message, reply or key that no rank will provide
  LostNotification,      // no live thread can wake the waiting one
  FullOrEmptyChannel,    // the other end of a pipe or socket neither reads nor writes
  Child,                 // a child process that does not exit
  Stopped,               // by a signal
  Traced,                // by a debugger
  StuckInKernel,         // in an uninterruptible sleep
  Spinning,              // uses CPU in one place without progress
  Livelock,              // ranks exchange messages without progress
  StarvedPool,           // all threads that could run a call wait
  DeviceWait,            // a thread waits for a device, which waits for a collective
  NotStarted,            // a rank has not begun its test
  StuckAtExit,           // a rank hangs in an exit handler or destructor
  Slow,                  // makes progress
  Unknown,
};
inline constexpr int kHangKindCount = 21;
const char* name_of(HangKind kind) noexcept;  // "self-deadlock"
std::optional<HangKind> try_find_hang_kind(std::string_view name) noexcept;

enum class Certainty : std::uint8_t {
  Unknown,
  Likely,
  Proven,  // seen unchanged in two snapshots, and nothing outside the graph can end the waits
};
inline constexpr int kCertaintyCount = 3;
const char* name_of(Certainty certainty) noexcept;  // "proven"

// Where a thread is: a function of user code, or the call site of a wait. Any part may be missing.
struct CodePlace {
  std::string function;
  std::string file;
  std::uint32_t line = 0;
  friend bool operator==(const CodePlace&, const CodePlace&) = default;
};

// One step of a chain of waits: some threads that do the same, and how they depend on those of the next step.
struct ChainLink {
  std::vector<int> ranks;  // ascending; empty: a process that is no rank
  std::int32_t pid = 0;    // 0: several or unknown
  std::int32_t tid = 0;
  std::string thread;  // its name; empty: the thread that runs the test body, or the main thread
  std::string does;    // in the singular: "waits in barrier \"meet\"", "is stopped (SIGSTOP)"
  CodePlace place;
  std::string leads;      // to the next step: " for ", ", held by "; empty: the last step
  std::string command{};  // of a process that is no rank
  int of_rank = -1;       // the rank that has started this process, which is no rank
  std::string host{};     // of its process, if ranks run on other machines than this
};

struct HangCause {
  HangKind kind = HangKind::Unknown;
  Certainty certainty = Certainty::Unknown;
  std::vector<int> ranks;  // the culprits, ascending; empty: a process that is no rank
  int rank = -1;           // of the thread to look at first, as all that follow; -1: none
  std::int32_t pid = 0;
  std::int32_t tid = 0;
  std::string thread;  // "4711 (worker)"
  CodePlace place;
  // How long it had waited when it was seen; if it does not wait, how long others had waited for it. 0: unknown.
  base::Nanoseconds lasted{};
  std::vector<int> victims;  // ranks that wait for the culprits, directly or not; ascending
  std::vector<ChainLink> chain;
  std::vector<std::string> evidence;         // sentences
  std::vector<std::string> contradicted_by;  // for what is not proven: observations that would refute it
  base::RankHosts hosts;                     // of the ranks, to name them

  // Returns whether none of its threads can ever continue: the verdict is then a deadlock.
  bool is_deadlock() const noexcept { return certainty == Certainty::Proven; }
};

}  // namespace distrun::runner
