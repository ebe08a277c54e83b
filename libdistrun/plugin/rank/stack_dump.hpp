#pragma once
// The stacks of all threads of this process. Each thread walks its own, in the handler of a signal that asks it to;
// so nothing is stopped, and a thread that sleeps in a system call goes on sleeping afterwards (SA_RESTART; the calls
// that never restart, such as poll and nanosleep, return EINTR, as they do for any handler).
//
// The signal is base::stack_signal(). On request, a thread that blocks it is not asked, and never finds it pending;
// where the test has a handler of its own for it, nobody is asked. Both are told in place of the stack.
//
// Any thread, one dump at a time for each asker. Async-signal-safe after prepare_stack_dump(). Bounded: kAnswerMsMax,
// and 50 ms for the caller's own stack.
#include <distrun/common/base/sanitizer.hpp>
#include <distrun/common/board/dump_area.hpp>

namespace distrun::rank {

int dump_signal() noexcept;

inline constexpr int kAnswerMsMax = base::kSanitized ? 400 : 100;  // for all threads together

// Both may be at work at the same time, each with an area of its own.
enum class Asker { Crash, Request };

// Installs the handler, unless somebody else has, and does what cannot be done in a handler. Once per process; a
// forked one has it. Before the plugin is loaded or after.
void prepare_stack_dump();

// Begins a dump, with an entry for the calling thread, which the caller fills with its stack. An area may be used
// again when its last dump is over; a thread that still answers for that one keeps its entry.
board::DumpThread& begin_dump(board::DumpArea& area);
// Asks all other threads, waits for them, and names the files to which the addresses belong.
void complete_dump(board::DumpArea& area, Asker asker);
// The same without asking anybody: the caller's stack is all.
void complete_dump_of_caller(board::DumpArea& area);
// Begins and completes, with the caller's stack.
void dump_stacks(board::DumpArea& area, Asker asker);

}  // namespace distrun::rank
