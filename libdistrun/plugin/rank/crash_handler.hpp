#pragma once
// The crash handler of a rank: records the stacks of all its threads, and then lets the process die by the same signal.
//
// It handles SIGSEGV, SIGABRT, SIGBUS, SIGFPE and SIGILL, and uncaught exceptions: their type and text are kept, and
// the usual message appears on stderr. If a signal already has a handler (of a sanitizer, or of a plugin when it was
// loaded), that handler stays, and handlers that a test installs later replace this one. A process that a test forks
// dies as if the handler were not installed.
//
// The first thread that crashes is recorded; others that crash meanwhile wait for the end of the process. A crash
// within the handler skips the rest. It takes at most 150 ms from the fault to the end: 50 for the crashed stack, 100
// for the answers of the others.
//
// A stack overflow is recognised by the distance of the fault from the stack pointer. The handler runs on an alternate
// stack (common/base/signal_stack.hpp), which the main thread, each base::Thread and threads started by a test
// (thread_start.hpp) have. A thread created by clone() has one only if it sets it up itself; without one, the kernel
// cannot call the handler on an overflow and ends the process at once, also by SIGSEGV, but with no record. The same
// holds for a fault in a thread that blocks its signal.
#include <cstddef>
#include <vector>

#include <distrun/common/base/fd.hpp>
#include <distrun/common/board/dump_area.hpp>

namespace distrun::rank {

// Does the part that survives a fork: handlers, the main thread's signal stack, prepare_stack_dump(). Until
// install_crash_handler(), a crash takes its default course. Call it once, on the main thread; forked processes inherit
// it.
void prepare_crash_handler();

// Installs the handler; prepares first if needed. Call it on the main thread before others are started. `area` is fresh
// and outlives the process. May be called again, with another area.
void install_crash_handler(board::DumpArea& area);

// The same with the area in the descriptor (common/board/shared_dump.hpp), for a process without a board slot. Throws
// Error{Failed} if it holds none.
void install_crash_handler(base::Fd memory);

// Records the stack of the calling thread, which is about to call exit(), unless one is recorded already. A crash after
// this replaces it. Does nothing in a process that a test has forked.
void record_exit() noexcept;

// Returns whether a thread of this process has crashed and is about to end it. Async-signal-safe.
bool has_crashed() noexcept;

// Sets the function that describes the address of a fault, within the signal handler; null for none. It writes at most
// `size` characters and returns their number.
void set_fault_explainer(std::size_t (*explain)(const void* address, char* text, std::size_t size)) noexcept;

// Sets one area per rank, if ranks are threads: a crash is recorded in that of the thread's rank (thread_owner.hpp), or
// else in that of the process. Call it before there is any such thread.
void install_crash_areas(std::vector<board::DumpArea*> areas_of_ranks);

}  // namespace distrun::rank
