#pragma once
// Walks the stack of the calling thread into its entry of a dump, with libgcc's unwinder, which finds its tables
// without a lock or an allocation (_dl_find_object, glibc 2.35; older versions take the loader's lock, and a dump may
// wait for it in vain).
//
// Any thread, with 8 KiB of stack. Async-signal-safe after prepare_unwinding(). With distrun's crash handler installed,
// survives a damaged stack and keeps the frames found so far. Takes at most about 50 ms of the thread's CPU time, more
// than a stack of 8 MiB needs.
#include <signal.h>

#include <distrun/common/board/dump_area.hpp>

namespace distrun::rank {

// Call it once per process, or before a fork: the first use of the unwinder is not async-signal-safe.
void prepare_unwinding();

// Walks from the caller on, or from a little further in.
void unwind_from_here(board::DumpThread& thread);
// Walks the stack that a signal handler interrupted, from within the handler.
void unwind_interrupted(board::DumpThread& thread);
// The same for a fault: after a jump to an address without code, the caller is where the jump came from. `context` is
// the handler's argument, and is unchanged afterwards.
void unwind_crashed(board::DumpThread& thread, const siginfo_t& info, void* context);

// Returns the stack pointer that a signal handler interrupted; 0 on an unsupported processor.
std::uint64_t stack_pointer_of(const void* context) noexcept;

}  // namespace distrun::rank
