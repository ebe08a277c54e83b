#pragma once
// Gives the threads that a test starts an alternate signal stack, so that the crash handler can report where such a
// thread overflows its stack.
//
// distrun-rank defines pthread_create() and thrd_create() and forwards to the C library's, as exit_call.hpp does with
// exit(). The new thread sets up its signal stack (common/base/signal_stack.hpp) before it runs code of the test, and
// releases it at its end, however it ends. A thread that already has one keeps it; if none is available, the thread
// runs without. Not used with a sanitizer, which wraps these functions and sets its own signal stacks.

namespace distrun::rank {

// Takes effect from now on, in this process and its forks.
void give_threads_signal_stacks() noexcept;

}  // namespace distrun::rank
