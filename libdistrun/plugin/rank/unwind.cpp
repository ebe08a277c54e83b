#include <distrun/plugin/rank/unwind.hpp>

#include <time.h>
#include <ucontext.h>
#include <unwind.h>

#include <algorithm>
#include <atomic>

#include <distrun/plugin/rank/fault_guard.hpp>
#include <distrun/plugin/rank/modules.hpp>

namespace distrun::rank {

constinit thread_local sigjmp_buf* way_out = nullptr;

namespace {

constexpr std::int64_t kWalkNsMax = 50'000'000;
constexpr std::uint64_t kFramesPerClock = 1024;   // between two reads of the clock
constexpr std::size_t kGap = wire::kInnerFrames;  // the index of the 0 that stands for omitted frames
constexpr std::size_t kRing = kGap + 1;           // from here on a ring of the outermost frames
constexpr std::size_t kRingSize = board::kDumpPcsMax - kRing;

// Returns the thread's CPU time: on a busy machine it may not run for as long as a whole walk takes.
std::int64_t now_ns() {
  timespec now{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return now.tv_sec * std::int64_t{1'000'000'000} + now.tv_nsec;
}

struct Walk {
  board::DumpThread& thread;
  bool skipping;  // up to and including the signal frame
  std::uint64_t frames = 0;
  std::int64_t until_ns = now_ns() + kWalkNsMax;
  bool at_end = false;
};

void set_count(board::DumpThread& thread, std::size_t count) {
  std::atomic_ref(thread.pc_count).store(static_cast<std::uint32_t>(count), std::memory_order_release);
}

void add(Walk& walk, std::uint64_t pc) {
  const std::uint64_t at = walk.frames++;
  const std::size_t slot = at < kRing ? at : kRing + (at - kRing) % kRingSize;
  walk.thread.pcs[slot] = pc;
  if (at < board::kDumpPcsMax) set_count(walk.thread, at + 1);
}

_Unwind_Reason_Code on_frame(_Unwind_Context* context, void* self) {
  Walk& walk = *static_cast<Walk*>(self);
  int interrupted = 0;  // 0 for a return address, which follows the call instruction
  const std::uint64_t ip = _Unwind_GetIPInfo(context, &interrupted);
  if (walk.skipping && interrupted == 0) return _URC_NO_REASON;
  walk.skipping = false;
  if (ip == 0 && walk.frames > 0) return _URC_NO_REASON;  // below a thread's first function
  add(walk, interrupted != 0 ? ip : ip - 1);
  const bool late = walk.frames % kFramesPerClock == 0 && now_ns() > walk.until_ns;
  return late ? _URC_END_OF_STACK : _URC_NO_REASON;
}

// The innermost frames are in place already; the outermost are in a ring.
void finish(Walk& walk) {
  if (walk.frames > board::kDumpPcsMax) {
    std::uint64_t* const ring = walk.thread.pcs + kRing;
    std::rotate(ring, ring + (walk.frames - kRing) % kRingSize, ring + kRingSize);
    walk.thread.pcs[kGap] = 0;
  }
  if (!walk.at_end) walk.thread.flags |= board::kDumpIncomplete;
}

void take(Walk& walk) {
  const bool survived = survives([&] { walk.at_end = _Unwind_Backtrace(on_frame, &walk) == _URC_END_OF_STACK; });
  walk.at_end = walk.at_end && survived;
  finish(walk);
}

#if defined(__x86_64__)
std::uint64_t pc_of(const ucontext_t& context) {
  return static_cast<std::uint64_t>(context.uc_mcontext.gregs[REG_RIP]);
}
std::uint64_t stack_pointer_in(const ucontext_t& context) {
  return static_cast<std::uint64_t>(context.uc_mcontext.gregs[REG_RSP]);
}
// Moves the context back to just before the call that led here.
void step_out(ucontext_t& context) {
  auto& registers = context.uc_mcontext.gregs;
  registers[REG_RIP] = *reinterpret_cast<const greg_t*>(registers[REG_RSP]) - 1;
  registers[REG_RSP] += 8;
}
#else
std::uint64_t pc_of(const ucontext_t&) { return 0; }
std::uint64_t stack_pointer_in(const ucontext_t&) { return 0; }
void step_out(ucontext_t&) {}
#endif

// Returns whether the thread has called, jumped or returned to an address without code: either the pc is not
// executable, or no file holds its code. Code without a file may be generated, so faults of its data accesses do not
// count.
bool has_left_code(const siginfo_t& info, std::uint64_t pc) {
  Module module;
  // For a non-canonical address, the kernel does not report which one.
  if (info.si_signo == SIGSEGV && info.si_code == SI_KERNEL) return !find_module(pc, module);
  if (reinterpret_cast<std::uint64_t>(info.si_addr) != pc) return false;
  return info.si_signo == SIGSEGV || (info.si_signo != SIGABRT && !find_module(pc, module));
}

}  // namespace

void prepare_unwinding() {
  board::DumpThread thread{};
  unwind_from_here(thread);
}

void unwind_from_here(board::DumpThread& thread) {
  Walk walk{thread, false};
  take(walk);
}

void unwind_interrupted(board::DumpThread& thread) {
  Walk walk{thread, true};
  take(walk);
}

void unwind_crashed(board::DumpThread& thread, const siginfo_t& info, void* context) {
  Walk walk{thread, true};
  auto& interrupted = *static_cast<ucontext_t*>(context);
  const std::uint64_t pc = pc_of(interrupted);
  const auto before = interrupted.uc_mcontext;
  if (info.si_code > 0 && has_left_code(info, pc)) {
    add(walk, pc);
    if (!survives([&] { step_out(interrupted); })) interrupted.uc_mcontext = before;
  }
  take(walk);
  interrupted.uc_mcontext = before;
}

std::uint64_t stack_pointer_of(const void* context) noexcept {
  return stack_pointer_in(*static_cast<const ucontext_t*>(context));
}

}  // namespace distrun::rank
