#pragma once
// The wait-for graph of a snapshot: threads, the things that they wait for, and the parties that can end a wait.
//
// Edges come from two sources. The board knows ranks and names; what was observed from outside (wire::ObservedWait)
// knows locks, pipes, children and timers. If a thread has a wait on the board, that wait counts.
//
// A wait names parties: sets of threads of which any one can do the party's part. It ends when all of its parties, or
// any of them, have acted. A party lists the expected thread first: the search for a culprit follows only that one,
// whereas a proof must exclude all of them. A wait is open if something outside the graph may end it as well: a timer,
// a deadline, a foreign process or an unknown party.
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <distrun/runner/record/doctor/hang_cause.hpp>
#include <distrun/runner/record/record.hpp>

namespace distrun::runner::doctor {

enum class Doing : std::uint8_t {
  Unknown,  // it shows no wait, and no stack was taken
  Runs,     // uses CPU, or makes progress
  Spins,    // uses CPU in one function
  Waits,
  Sleeps,    // ends by a timer
  Stopped,   // by a signal
  Traced,    // by a debugger
  InKernel,  // in an uninterruptible sleep
  Absent,    // of a rank that has ended, or of a call that no thread runs
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
  std::string key;   // equal for all threads that wait for the same thing
};

enum class Need : std::uint8_t { All, Any };

using Indices = std::vector<std::size_t>;

struct Wait {
  std::size_t thing = 0;  // in Graph::things
  Need need = Need::All;
  Indices parties;  // in Graph::parties; none: nothing in the graph can end it
  Indices next;     // the expected threads; empty if none is known
  Indices awaited;  // the threads of `next` that the board or the kernel names; the others of `next` are guesses
  bool open = true;
  std::string why_open;  // "it has a deadline"; empty: not open
  bool on_board = false;
  bool queued = false;        // a call that its callee is not running yet
  std::vector<int> ranks;     // that the board names
  std::string call;           // "fcntl(F_SETLKW)"; empty: none or unknown
  std::string note;           // "its owner has exited"; may be empty
  std::int64_t since_ns = 0;  // 0: unknown
  std::int64_t deadline_ns = 0;
};

struct Thread {
  int rank = -1;     // -1: not of a rank's process
  int of_rank = -1;  // the rank whose descendant its process is, or its own rank
  int pid = 0;
  int tid = 0;
  std::string name;
  std::string command;   // of its process
  bool is_body = false;  // runs a rank's body, or is the main thread of a process that is no rank
  bool is_own = false;   // one of distrun's own threads, which act only for others
  Doing doing = Doing::Unknown;
  wire::Phase phase = wire::Phase::Body;  // of its rank
  bool has_shown = false;                 // the rank has attached to the board
  CodePlace place;
  std::string call;           // the system call or kernel function that it is in
  std::string handler;        // "handler \"f\" #7 of rank 0", if it runs a call for another rank
  std::int64_t since_ns = 0;  // of its wait or phase; 0: unknown
  std::optional<Wait> wait;   // exactly if it waits
  bool unchanged = false;     // it was seen in the same wait in the earlier snapshot
};

struct Graph {
  std::vector<Thread> threads;
  std::vector<Thing> things;
  std::vector<Indices> parties;  // threads; never empty
  std::vector<std::size_t> bodies;
  bool has_earlier = false;  // it was compared with an earlier snapshot
  std::int64_t at_ns = 0;    // when it was seen, on the monotonic clock
  // Returns the thread that runs the body of the rank, or nullptr.
  const Thread* body_of(int rank) const;
};

// `earlier` may be nullptr; nothing can be proven then. The coordinator's loop must have run between the two, so that
// messages that were in flight have arrived.
Graph graph_of(const Snapshot& now, const Snapshot* earlier = nullptr);

}  // namespace distrun::runner::doctor
