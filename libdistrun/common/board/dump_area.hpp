#pragma once
// The stacks of all threads of one process, in memory with a fixed layout: written by the process itself in signal
// handlers, read by processes that share the memory, even after the writer died half-way.
//
// Writing: plugin/rank/stack_dump.cpp and plugin/rank/crash_handler.cpp, with async-signal-safe calls only. Fields that
// two threads access at the same time are written through std::atomic_ref; the others belong to the thread that claimed
// the entry. A fresh area is all zeros, and its pages are not touched before they are written.
//
// Reading: any thread. The area may hold anything, so everything is copied first and bounded afterwards.
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <type_traits>

#include <distrun/common/wire/stacks.hpp>

namespace distrun::board {

inline constexpr std::size_t kDumpThreadsMax = 256;
inline constexpr std::size_t kDumpModulesMax = 128;
inline constexpr std::size_t kDumpPcsMax = wire::kInnerFrames + wire::kOuterFrames;

enum class DumpState : std::uint32_t { Empty, Writing, Complete };

// The reason why a thread has no stack.
enum class NoStack : std::uint8_t {
  None,  // it has one, or was not asked yet
  BlocksSignal,
  NoAnswer,         // within the time limit
  Uninterruptible,  // in the kernel, state D
  NotOurHandler,    // the test has installed its own handler
  NotAsked,         // the signal could not be sent
};
inline constexpr int kNoStackCount = 6;
// Returns "it blocks the signal that asks for its stack"; empty for None. Static text, async-signal-safe.
const char* text_of(NoStack why) noexcept;

// State of a thread's entry; with the number of the dump in the higher bits, it is DumpThread::ticket.
enum class Answer : std::uint32_t { None, Asked, Answering, Answered };
inline constexpr std::uint32_t ticket_of(std::uint32_t dump, Answer answer) noexcept {
  return dump << 2 | static_cast<std::uint32_t>(answer);
}
inline constexpr Answer answer_of(std::uint32_t ticket) noexcept { return static_cast<Answer>(ticket & 3); }

inline constexpr std::uint8_t kDumpCrashed = 1;     // this thread ended the process
inline constexpr std::uint8_t kDumpIncomplete = 2;  // the unwinder did not reach the outermost frame

// A stack of more than kDumpPcsMax frames holds its innermost kInnerFrames, a 0, and its outermost ones.
struct DumpThread {
  std::uint32_t ticket;    // atomic: which thread may write the rest
  std::int32_t tid;        // 0: the entry is unused
  std::uint32_t pc_count;  // atomic: the number of valid pcs, even if the thread dies while it writes
  std::uint8_t flags;
  NoStack why_none;
  std::uint16_t reserved;
  char name[16];
  std::uint64_t pcs[kDumpPcsMax];
};

// The code from start to end is that of the file `path`, loaded with `bias`.
struct DumpModule {
  std::uint64_t start;
  std::uint64_t end;
  std::uint64_t bias;
  char path[240];
};

struct DumpHead {
  DumpState state;       // atomic
  std::uint32_t number;  // of the dump being written, counted from 1
  std::int32_t pid;
  std::int32_t signal;  // 0: no crash; the dump was requested, or follows a call of exit()
  std::int32_t code;    // si_code
  std::int32_t crashed_tid;
  std::uint64_t address;        // si_addr
  std::uint64_t stack_pointer;  // of the crashed thread, at the fault; 0: unknown on this machine
  std::uint32_t thread_count;   // atomic
  std::uint32_t module_count;   // atomic
  std::uint32_t left_out;       // threads that did not fit
  std::int32_t owner;           // 1 + the rank of the crashed thread; 0: unknown
  std::int32_t exception_tid;   // of the thread with an uncaught exception; 0: none
  char exception_type[256];
  char exception_text[1024];  // what(); empty if it is no std::exception
  char address_text[256];     // a description of `address`, if the process has one
};

struct DumpArea {
  DumpHead head;
  DumpModule modules[kDumpModulesMax];
  DumpThread threads[kDumpThreadsMax];
};
static_assert(std::is_trivial_v<DumpArea> && std::is_standard_layout_v<DumpArea>);
static_assert(sizeof(DumpArea) < std::size_t{352} * 1024);

// The contents of an area. Strings are raw bytes; escape them before showing them.
struct Dump {
  wire::RawStacks stacks;
  bool complete = false;  // false: the process died while it wrote
  int signal = 0;         // 0: requested, or after a call of exit()
  int code = 0;
  std::uint64_t address = 0;
  std::uint64_t stack_pointer = 0;  // of the crashed thread, at the fault; 0: unknown
  int crashed_tid = 0;
  int rank = -1;  // the rank of the crashed thread, if ranks are threads; -1: unknown
  std::uint32_t left_out = 0;
  std::string exception_type;  // demangled; empty: no exception ended the crashed thread
  std::string exception_text;
  std::string address_text;  // "device memory of cuda:1 (allocated at ring.cpp:12)"; empty: unknown
};

// Returns nullopt if nothing was written. If the writer died, returns the complete parts.
std::optional<Dump> read(const DumpArea& area);

}  // namespace distrun::board
