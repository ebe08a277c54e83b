#pragma once
// The wait-for graph of a snapshot: threads, the things that they wait for, and the parties that can end a wait.
//
// Edges come from two sources. The board knows ranks and names; what was observed from outside (wire::ObservedWait)
// knows locks, pipes, children and timers. If a thread has a wait on the board, that wait counts.
//
// A wait names parties: sets of threads of which any one can do the party's part. It ends when all of its parties, or
// any of them, have acted. A party lists the expected thread first: the search for a culprit follows only that one,
// whereas a proof must exclude all of them. A wait is open if something outside the graph may end it as well: a timer,
// a deadline, a foreign process or an unknown party. build_graph.hpp builds it.
#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include <distrun/runner/record/doctor/hang_cause.hpp>
#include <distrun/runner/record/record.hpp>

namespace distrun::runner::doctor {

enum class Doing : std::uint8_t {
  Unknown,   // it shows no wait, and its stack is not known
  Runs,      // uses CPU, or makes progress
  Spins,     // uses CPU in one function
  Waits,     // Thread::wait says for what
  Sleeps,    // until a timer expires
  Stopped,   // by a signal
  Traced,    // by a debugger
  InKernel,  // in an uninterruptible sleep
  Ended,     // of a rank that has ended, or a thread that has exited
  Idle,      // stands for the thread that has yet to begin a call
};

enum class ThingKind : std::uint8_t {
  Mutex,
  SharedMutex,
  ReadWriteLock,
  ConditionVariable,
  Semaphore,
  ThreadBarrier,
  Latch,
  Future,
  AtomicWait,
  ThreadEnd,
  StaticGuard,
  LoaderLock,
  HeapLock,
  FileLock,
  Pipe,
  Socket,
  Listener,
  Child,
  Process,
  Signal,
  Timer,
  Events,
  Device,
  Library,
  Barrier,  // of ranks, as all that follow
  Collective,
  Receive,
  Send,
  RpcReply,
  RrefConfirmation,
  StoreKey,
  PoolSlot,
  Gradient,
  Stream,
  Event,
  Custom,
  Other,
};

struct Thing {
  ThingKind kind = ThingKind::Other;
  std::string name;  // "barrier \"meet\"", "lock of /tmp/x"
  std::string key;   // equal for all threads that wait for the same thing; of one machine, unless the board names it
};

using Indices = std::vector<std::size_t>;

// Threads of which any one can do what a wait needs, the expected one first.
struct Party {
  Indices threads;
  bool open = false;  // it may have members that are not in the graph
};

enum class Need : std::uint8_t { All, Any };

struct Wait {
  std::size_t thing = 0;  // in Graph::things
  Need need = Need::All;
  Indices parties;       // in Graph::parties; none: nothing in the graph can end it
  Indices next;          // the expected threads; empty if none is known
  bool guessed = false;  // `next` follows from no evidence, but no other thread is as likely
  bool open = true;
  std::string why_open;  // "it has a deadline"; empty: not open
  bool on_board = false;
  bool queued = false;        // a call that its callee is not running
  std::vector<int> ranks;     // that the board names
  std::vector<int> members;   // the ranks of a barrier or collective that the board names, whether they have arrived
  std::string call;           // "fcntl(F_SETLKW)"; empty: none or unknown
  std::string note;           // "its owner has exited"; may be empty
  std::int64_t since_ns = 0;  // 0: unknown
  std::int64_t deadline_ns = 0;
};

inline constexpr std::size_t kSentMax = 4;

// Threads and processes of two machines may have the same ids.
struct ThreadId {
  int host = 0;  // the number of its machine, as evidence::Process::host
  int pid = 0;
  int tid = 0;
  friend auto operator<=>(const ThreadId&, const ThreadId&) = default;
};

struct Thread {
  int rank = -1;     // -1: its process is no rank
  int of_rank = -1;  // its rank, or the rank that its process descends from
  int host = 0;      // as in ThreadId
  int pid = 0;
  int tid = 0;
  std::string name;
  std::string command;     // of its process
  bool is_body = false;    // runs a rank's body, or is the main thread of a process that is no rank
  bool is_own = false;     // one of distrun's own threads, which act only for others
  bool has_shown = false;  // its rank has attached to the board
  Doing doing = Doing::Unknown;
  wire::Phase phase = wire::Phase::Body;  // of its rank
  CodePlace place;                        // the innermost user code, or the call site of its wait
  std::string call;                       // the system call or kernel function that it is in
  std::string handler;                    // "handler \"f\" #7 of rank 0", if it runs a call for another rank
  std::int64_t since_ns = 0;              // of its wait or phase; 0: unknown
  std::optional<Wait> wait;               // only if it waits
  std::vector<std::string>
      sent;                 // "send \"go\" to rank 2": its rank's last messages, the latest first; at most kSentMax
  std::uint64_t epoch = 0;  // of its rank; grows with its progress
  std::uint64_t cpu_ns = 0;
  bool wants_cpu = false;   // it was ready to run
  bool unchanged = false;   // it was in the same wait in the earlier snapshot, and did nothing in between; or had ended
  bool moved = false;       // it used CPU in between
  bool progressed = false;  // its rank did something on the board in between, or while the snapshot was taken

  ThreadId id() const noexcept { return {host, pid, tid}; }
};

struct Graph {
  std::vector<Thread> threads;
  std::vector<Thing> things;
  std::vector<Party> parties;
  Indices bodies;                       // by rank; then the main threads of processes that are no ranks
  bool has_earlier = false;             // it was compared with an earlier snapshot
  std::int64_t at_ns = 0;               // when it was seen, on the monotonic clock
  base::RankHosts hosts;                // of the ranks, to name them
  std::map<int, std::string> machines;  // names by the threads' `host`; without this machine

  // Returns the thread that runs the body of the rank; nullptr if the rank is not in the snapshot.
  const Thread* body_of(int rank) const;
};

}  // namespace distrun::runner::doctor
