#pragma once
// Stacks as they travel: raw from a rank that dumps its own, with names from the probe. What arrives is data of
// somebody else: indices and enumerators are checked by whoever uses them.
//
// The probe (apps/distrun-probe) gets one ProbeOrder on descriptor 3 and answers with frames: the kernel's view of
// every process first, then tables of frames and processes whose threads point into them, as they become known; a
// process that comes again replaces what came before. ProbeDone is the last; a probe that is killed before it has
// told what it knew.
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

// Kept of one stack: the innermost and the outermost; between them stands a gap.
inline constexpr std::size_t kInnerFrames = 96;
inline constexpr std::size_t kOuterFrames = 32;

// One function of a stack. An inlined function stands for itself, before the one that holds its code.
struct StackFrame {
  std::uint64_t pc = 0;  // an address inside the instruction that runs or calls
  std::string function;  // demangled; empty: unknown
  std::string file;      // as the debug information has it; empty: unknown
  std::uint32_t line = 0;
  std::string module;        // path of the file that holds the code; empty: no file does
  std::uint64_t offset = 0;  // of pc, in the addresses of that file
  bool inlined = false;
  bool signal_frame = false;  // here the kernel called a signal handler
  friend bool operator==(const StackFrame&, const StackFrame&) = default;
};
DISTRUN_FIELDS(StackFrame, m.pc, m.function, m.file, m.line, m.module, m.offset, m.inlined, m.signal_frame)

// What the kernel says of a thread, from /proc/PID/task/TID. Reading it never blocks.
struct TaskState {
  std::int32_t tid = 0;
  std::string name;
  std::uint8_t state = '?';  // R, S, D, T (stopped), t (traced), Z, X, I; ?: could not be read
  std::string wchan;         // kernel function in which it sleeps; empty: none or hidden
  std::string syscall;       // "read(3, 0x7ffc..., 1)"; empty: none or hidden
  std::string kernel_stack;  // of a thread in state D, a function a line; empty: hidden
  std::uint64_t cpu_ns = 0;  // that it has used
};
DISTRUN_FIELDS(TaskState, m.tid, m.name, m.state, m.wchan, m.syscall, m.kernel_stack, m.cpu_ns)

// What several samples say of a thread.
enum class Motion : std::uint8_t {
  Unknown,   // one sample only, or it came or went meanwhile
  Waiting,   // used no CPU and stayed where it was
  Spinning,  // used CPU and stayed in the same function
  Moving,    // went on
};
inline constexpr int kMotionCount = 4;

struct ThreadStack {
  TaskState task;
  std::vector<std::uint32_t> frames;  // into the table, innermost first
  std::int32_t gap_after = -1;        // so many frames from the innermost, others are left out; -1: none is
  bool incomplete = false;            // the unwinder could not go on to the outermost frame
  bool crashed = false;               // this thread ended the process
  std::string why_none;               // why there are no frames; empty: there are
  Motion motion = Motion::Unknown;
  std::string waits_for;  // "mutex 0x55... held by thread 4711 (worker)"; empty: not known
};
DISTRUN_FIELDS(ThreadStack, m.task, m.frames, m.gap_after, m.incomplete, m.crashed, m.why_none, m.motion, m.waits_for)

struct ProcessStacks {
  std::int32_t index = 0;  // in the order
  std::int32_t pid = 0;
  std::string command;               // "distrun-rank"
  std::vector<ThreadStack> threads;  // the main thread first
  std::string why_none;              // why no thread has a stack; empty: some may have
};
DISTRUN_FIELDS(ProcessStacks, m.index, m.pid, m.command, m.threads, m.why_none)

struct StackTable {
  std::vector<StackFrame> frames;  // appended to those that came before
};
DISTRUN_FIELDS(StackTable, m.frames)

// ---- raw, as a rank finds its own stacks: addresses only

struct RawModule {
  std::uint64_t bias = 0;  // what was added to the file's addresses
  std::string path;
};
DISTRUN_FIELDS(RawModule, m.bias, m.path)

struct RawThread {
  std::int32_t tid = 0;
  std::string name;
  // Innermost first, each inside the instruction that runs or calls; a 0 behind the first: some are left out.
  std::vector<std::uint64_t> pcs;
  bool crashed = false;
  bool incomplete = false;  // it could not be followed to the outermost frame
  std::string why_none;     // "it blocks the signal that asks for its stack"; empty: there are pcs
};
DISTRUN_FIELDS(RawThread, m.tid, m.name, m.pcs, m.crashed, m.incomplete, m.why_none)

struct RawStacks {
  std::int32_t pid = 0;
  std::vector<RawModule> modules;
  std::vector<RawThread> threads;
};
DISTRUN_FIELDS(RawStacks, m.pid, m.modules, m.threads)

// ---- the probe's order and its last word

struct ProbeOrder {
  std::vector<std::int32_t> pids;  // index 0, 1, ...
  std::vector<RawStacks> raw;      // to be given names; their indices follow those of the pids
  std::int32_t samples = 1;
  std::int32_t interval_ms = 20;  // between samples
  std::int32_t stop_ms = 200;     // a thread that has not stopped by then has no stack
};
DISTRUN_FIELDS(ProbeOrder, m.pids, m.raw, m.samples, m.interval_ms, m.stop_ms)

struct ProbeDone {
  std::string error;  // why it could not do its part; empty: it could
};
DISTRUN_FIELDS(ProbeDone, m.error)

}  // namespace distrun::wire
