#pragma once
// Dumps the stacks of all threads of this process. Each thread walks its own stack, in the handler of a signal. So no
// thread is stopped, and a thread that sleeps in a system call keeps sleeping afterwards (SA_RESTART; calls that never
// restart, such as poll and nanosleep, return EINTR, as with any handler).
//
// The signal is base::stack_signal(). On request, a thread that blocks it is not asked, and never finds it pending; if
// the test has installed its own handler for it, no thread is asked. Both are reported in place of the stack.
//
// Any thread, one dump at a time per asker. Async-signal-safe after prepare_stack_dump(). Takes at most kAnswerMsMax,
// and 50 ms for the caller's own stack.
#include <distrun/common/base/sanitizer.hpp>
#include <distrun/common/board/dump_area.hpp>

namespace distrun::rank {

int dump_signal() noexcept;

inline constexpr int kAnswerMsMax = base::kSanitized ? 400 : 100;  // for all threads together

// Both may run at the same time, each with a separate area.
enum class Asker { Crash, Request };

// Installs the handler, unless there is another one, and does what a handler cannot do. Once per process; forked
// processes inherit it. Before or after the plugin is loaded.
void prepare_stack_dump();

// Begins a dump and returns the entry of the calling thread, which the caller fills with its stack. An area may be
// reused when its last dump is over; a thread that still answers for that dump keeps its entry.
board::DumpThread& begin_dump(board::DumpArea& area);
// Asks all other threads, waits for them, and finds the files that the addresses belong to.
void complete_dump(board::DumpArea& area, Asker asker);
// The same without the other threads: only the caller's stack.
void complete_dump_of_caller(board::DumpArea& area);
// Begins and completes a dump, including the caller's stack.
void dump_stacks(board::DumpArea& area, Asker asker);

}  // namespace distrun::rank
