#pragma once
// Messages with stacks: raw from a rank that dumps its own, with names from the probe. The contents are untrusted:
// users of indices and enumerators must check them.
//
// The probe (apps/distrun-probe) gets one ProbeOrder on descriptor 3 and answers with frames: first the kernel's view
// of every process, then tables of frames and processes with threads that refer to them, as they become known; a
// process that is sent again replaces the earlier one. ProbeDone is the last; a probe that is killed earlier has sent
// what it knew.
#include <cstdint>
#include <string>
#include <vector>

#include <distrun/common/wire/codec.hpp>

namespace distrun::wire {

enum class ProbeFrame : std::uint16_t {
  Order = 64,  // to the probe; the others from it
  Table = 65,
  Process = 66,
  Done = 67,
};
inline bool is_known(ProbeFrame kind) noexcept { return kind >= ProbeFrame::Order && kind <= ProbeFrame::Done; }

// Frames kept of one stack: the innermost and the outermost, with a gap between them.
inline constexpr std::size_t kInnerFrames = 96;
inline constexpr std::size_t kOuterFrames = 32;

// The module of frames of a script in Python: file and line are the script's, and names have no arguments.
inline constexpr char kPythonModule[] = "[python]";
// The note of a wait ends with this if the thread holds its interpreter's lock.
inline constexpr char kHoldsGil[] = "holds the GIL";

// One function of a stack. An inlined function has its own entry, before that of the function that holds its code.
struct StackFrame {
  std::uint64_t pc = 0;  // an address inside the instruction that runs or calls
  std::string function;  // demangled; empty: unknown
  std::string file;      // from the debug information; empty: unknown
  std::uint32_t line = 0;
  std::string module;        // path of the file that holds the code; empty: none
  std::uint64_t offset = 0;  // of pc, in the addresses of that file
  bool inlined = false;
  bool signal_frame = false;  // the kernel called a signal handler here
  friend bool operator==(const StackFrame&, const StackFrame&) = default;
};
DISTRUN_FIELDS(StackFrame, m.pc, m.function, m.file, m.line, m.module, m.offset, m.inlined, m.signal_frame)

// The kernel's view of a thread, from /proc/PID/task/TID. Reading it never blocks.
struct TaskState {
  std::int32_t tid = 0;
  std::string name;
  std::uint8_t state = '?';  // R, S, D, T (stopped), t (traced), Z, X, I; ?: could not be read
  std::string wchan;         // kernel function in which it sleeps; empty: none or hidden
  std::string syscall;       // "read(3, 0x7ffc..., 1)"; empty: none or hidden
  std::string kernel_stack;  // of a thread in state D, one function per line; empty: hidden
  std::uint64_t cpu_ns = 0;  // CPU time used
};
DISTRUN_FIELDS(TaskState, m.tid, m.name, m.state, m.wchan, m.syscall, m.kernel_stack, m.cpu_ns)

// How a thread moves between several samples.
enum class Motion : std::uint8_t {
  Unknown,   // one sample only, or the thread started or ended meanwhile
  Waiting,   // used no CPU and did not move
  Spinning,  // used its CPU to wait for a change of memory, in one place
  Moving,    // was found in different places, or slept and woke up again
  Running,   // used its CPU in one place; whether it computes or waits is not known
};
inline constexpr int kMotionCount = 5;

// The kinds of objects that a thread can be seen to wait for.
enum class WaitObject : std::uint8_t {
  None,         // the thread runs, or nothing was observed
  Unknown,      // it waits for something that was not recognised
  Mutex,        // of one process
  SharedMutex,  // of several processes, in shared memory
  ReadWriteLock,
  ConditionVariable,
  Semaphore,
  Barrier,  // of threads: pthread_barrier_t, std::barrier
  Latch,
  Future,
  AtomicWait,
  ThreadEnd,    // a join
  StaticGuard,  // the initialisation of a function's static variable, call_once
  LoaderLock,   // of dlopen() and the like
  HeapLock,     // of malloc()
  FileLock,
  Pipe,
  Socket,
  Listener,  // a listening socket: a connection to accept
  Child,
  Process,  // the end of a process that is no child, by a pidfd
  Signal,
  Timer,    // a sleep
  Events,   // several descriptors: poll(), select(), epoll
  Device,   // a GPU: a stream, an event, the whole device
  Library,  // inside a communication library: NCCL, Gloo, MPI, UCX
  Other,    // a system call that depends on no process
};
inline constexpr int kWaitObjectCount = 27;

// A thread or process that can end a wait.
struct WaitEnder {
  std::int32_t pid = 0;
  std::int32_t tid = 0;  // 0: any thread of the process
  std::string name;      // "4711 (worker)"
};
DISTRUN_FIELDS(WaitEnder, m.pid, m.tid, m.name)

// The wait of a thread, as seen from outside: from its system call, the memory that the arguments point to, and its
// frames.
struct ObservedWait {
  WaitObject object = WaitObject::None;
  std::string name;  // "mutex 0x55...", "pipe 8812", "lock of /tmp/x", "thread 4711 (worker)"
  std::string key;   // equal for all threads, of any process, that wait for the same object; empty: not known
  std::string call;  // "read(5)", "fcntl(F_SETLKW)", "futex(0x55...)"; empty: in no system call
  std::vector<WaitEnder> enders;  // any of them can end it; empty: none is known
  bool closed = false;            // nothing else can end it: no timeout, signal, other machine, unknown process
  std::string limit;              // its timeout: "1.5 s"; empty: it has none, or it is not known
  std::string note;               // what else was seen: "its owner has exited", "lost in a fork"; may be empty
};
DISTRUN_FIELDS(ObservedWait, m.object, m.name, m.key, m.call, m.enders, m.closed, m.limit, m.note)

struct ThreadStack {
  TaskState task;
  std::vector<std::uint32_t> frames;  // indices into the table, innermost first
  std::int32_t gap_after = -1;        // frames after this many innermost ones are omitted; -1: none
  bool incomplete = false;            // the unwinder did not reach the outermost frame
  bool crashed = false;               // this thread ended the process
  std::string why_none;               // why there are no frames; empty: there are
  Motion motion = Motion::Unknown;
  std::string waits_for;  // "mutex 0x55... held by thread 4711 (worker)"; empty: unknown
  ObservedWait wait;
};
DISTRUN_FIELDS(ThreadStack, m.task, m.frames, m.gap_after, m.incomplete, m.crashed, m.why_none, m.motion, m.waits_for,
               m.wait)

// An asyncio task that waits is listed among the threads of its process, with a negative id: no thread runs it. Its
// frames are the coroutines that await each other.
inline bool is_task(const ThreadStack& thread) { return thread.task.tid < 0; }

struct ProcessStacks {
  std::int32_t index = 0;  // position in the order
  std::int32_t pid = 0;
  std::string command;               // "distrun-rank"
  std::vector<ThreadStack> threads;  // the main thread first
  std::string why_none;              // why no thread has a stack; empty: some may have
  std::int32_t descendant_of = -1;   // index of the ordered process that has started it; -1: it was ordered itself
};
DISTRUN_FIELDS(ProcessStacks, m.index, m.pid, m.command, m.threads, m.why_none, m.descendant_of)

struct StackTable {
  std::vector<StackFrame> frames;  // appended to the earlier ones
};
DISTRUN_FIELDS(StackTable, m.frames)

// ---- raw: addresses only, as a rank finds its own stacks

struct RawModule {
  std::uint64_t bias = 0;  // load address minus file address
  std::string path;
};
DISTRUN_FIELDS(RawModule, m.bias, m.path)

struct RawThread {
  std::int32_t tid = 0;
  std::string name;
  // Innermost first, each inside the instruction that runs or calls; a 0 after the first: some are omitted.
  std::vector<std::uint64_t> pcs;
  bool crashed = false;
  bool incomplete = false;  // the unwinder did not reach the outermost frame
  std::string why_none;     // "it blocks the signal that asks for its stack"; empty: there are pcs
};
DISTRUN_FIELDS(RawThread, m.tid, m.name, m.pcs, m.crashed, m.incomplete, m.why_none)

struct RawStacks {
  std::int32_t pid = 0;
  std::vector<RawModule> modules;
  std::vector<RawThread> threads;
};
DISTRUN_FIELDS(RawStacks, m.pid, m.modules, m.threads)

// ---- the probe's order and its last message

// A process that counts as a descendant of another one, which has not started it itself.
struct AdoptedProcess {
  std::int32_t parent = 0;
  std::int32_t pid = 0;
};
DISTRUN_FIELDS(AdoptedProcess, m.parent, m.pid)

struct ProbeOrder {
  std::vector<std::int32_t> pids;  // index 0, 1, ...
  std::vector<RawStacks> raw;      // to be symbolised; their indices follow those of the pids
  std::int32_t samples = 1;
  std::int32_t interval_ms = 20;  // between samples
  std::int32_t stop_ms = 200;     // a thread that has not stopped within this time has no stack
  std::int32_t descendants = 0;   // limit of descendants of the pids that are inspected, too, with the next indices
  bool gentle = false;            // stops no thread: only threads that sleep in system calls have stacks
  std::vector<AdoptedProcess> adopted;
};
DISTRUN_FIELDS(ProbeOrder, m.pids, m.raw, m.samples, m.interval_ms, m.stop_ms, m.descendants, m.gentle, m.adopted)

struct ProbeDone {
  std::string error;                  // why it failed; empty: success
  std::int32_t descendants_left = 0;  // further descendants that were not looked at
};
DISTRUN_FIELDS(ProbeDone, m.error, m.descendants_left)

}  // namespace distrun::wire
