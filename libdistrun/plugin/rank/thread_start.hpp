#pragma once
// Threads that a test starts by itself get a stack on which they handle signals, so that the crash handler can tell
// where such a thread has used up its own stack.
//
// distrun-rank defines pthread_create() and thrd_create() and hands on to the C library's, as exit_call.hpp does with
// exit(). The new thread takes the signal stack (common/base/signal_stack.hpp) before it runs anything of the test, and
// gives it back at its end, however it ends. A thread that has one already keeps that; one that cannot get any does
// without. Not with a sanitizer, which has its own functions of these names and its own stacks for signals.

namespace distrun::rank {

// From now on, in this process and what it forks.
void give_threads_signal_stacks() noexcept;

}  // namespace distrun::rank
