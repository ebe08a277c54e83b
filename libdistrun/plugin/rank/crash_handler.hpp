#pragma once
// What a rank does when it crashes: it writes down where, for all of its threads, and then dies by the very signal.
//
// Handled are SIGSEGV, SIGABRT, SIGBUS, SIGFPE and SIGILL, and exceptions that nobody catches: their type and text are
// kept, and the usual message appears on stderr. A signal for which somebody has a handler already (a sanitizer, a
// plugin while it was loaded) stays theirs, and what a test installs later replaces this one. A process that a test
// forks dies as if nothing were installed here.
//
// The first thread that crashes is the one that is recorded; others that crash meanwhile wait for the end it brings.
// A crash within the handler skips the rest. From the fault to the end it takes 150 ms at most: 50 for the crashed
// stack, 100 for the others to answer.
//
// Stack overflow is told as one, by how near to the stack pointer the fault was. The handler runs on a stack of its own
// (common/base/signal_stack.hpp) on the main thread, on those of base::Thread, and on those that a test starts
// (thread_start.hpp). A thread made by clone() has none unless it asks for one, so the kernel cannot call the handler
// when its stack is used up, and ends the process at once: by SIGSEGV all the same, but without a word here. The same
// holds for a fault in a thread that blocks its signal.
#include <cstddef>
#include <vector>

#include <distrun/common/base/fd.hpp>
#include <distrun/common/board/dump_area.hpp>

namespace distrun::rank {

// Does what a fork keeps: handlers, the main thread's signal stack, prepare_stack_dump(). Until install_crash_handler()
// a crash goes its usual way. On the main thread; once per process, and once for all that it forks.
void prepare_crash_handler();

// On the main thread, before others are started; prepares first if nobody has. `area` is fresh and outlives the
// process. May be called again, with another area.
void install_crash_handler(board::DumpArea& area);

// The same with the area that the descriptor holds (common/board/shared_dump.hpp), for a process that has no slot of a
// board. Throws Error{Failed} if it holds none.
void install_crash_handler(base::Fd memory);

// The calling thread is about to end the process by exit(): its stack is written down, unless somebody has been here
// before. Who crashes on the way takes the place. Not in a process that a test has forked.
void record_exit() noexcept;

// A thread of this process has crashed, and is about to end it. Async-signal-safe.
bool has_crashed() noexcept;

// Who is asked, in the signal handler, what an address is that a fault was at; null: nobody. It writes at most `size`
// characters and returns how many.
void set_fault_explainer(std::size_t (*explain)(const void* address, char* text, std::size_t size)) noexcept;

// Ranks that are threads have an area each: a crash goes into that of the rank whose thread it is (thread_owner.hpp),
// else into the one of the process. Before there is any such thread.
void install_crash_areas(std::vector<board::DumpArea*> areas_of_ranks);

}  // namespace distrun::rank
