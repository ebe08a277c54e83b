#pragma once
// Which thread calls exit() or quick_exit(), and with what code, known before any exit handler runs.
//
// An exit handler of ours would come too late: those that were registered after it run first, and they take away what
// other threads still use. So distrun-rank defines both functions itself and hands on to the C library's. A library
// that was loaded with RTLD_DEEPBIND goes past that; so does _exit(), which has no handlers to wait for.

namespace distrun::rank {

// `tell` is called by the thread that calls exit(), before anything else happens; null: nobody is told. It is
// async-signal-safe and returns. Any thread.
void set_exit_listener(void (*tell)(int code) noexcept) noexcept;

}  // namespace distrun::rank
