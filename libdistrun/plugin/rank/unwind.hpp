#pragma once
// Walks the stack of the calling thread into its entry of a dump: with libgcc's unwinder, which finds its tables
// without a lock or an allocation (_dl_find_object, glibc 2.35; before that it takes the loader's lock, and a dump
// may wait for it in vain).
//
// Any thread, with 8 KiB of stack. Async-signal-safe after prepare_unwinding(). Survives what it finds on a broken
// stack where distrun's crash handler is installed, and then keeps what it has found. Bounded: about 50 ms of
// the thread's time, which is more than a stack of 8 MiB takes.
#include <signal.h>

#include <distrun/common/board/dump_area.hpp>

namespace distrun::rank {

// Once per process, or before the fork: the unwinder's own first use is not async-signal-safe.
void prepare_unwinding();

// From the caller on, or from a little further in.
void unwind_from_here(board::DumpThread& thread);
// What a signal handler interrupted, from within the handler.
void unwind_interrupted(board::DumpThread& thread);
// The same for a fault: a jump to where no code is gets the place it came from as its caller. `context` is what the
// handler got, and is as it was afterwards.
void unwind_crashed(board::DumpThread& thread, const siginfo_t& info, void* context);

// Of what a signal handler interrupted; 0 where the processor is not known here.
std::uint64_t stack_pointer_of(const void* context) noexcept;

}  // namespace distrun::rank
