#pragma once
// Detects which thread calls exit() or quick_exit(), and with which code, before any exit handler runs.
//
// An exit handler would come too late: handlers registered after it run first, and destroy what other threads still
// use. So distrun-rank defines both functions and forwards to the C library's. A library loaded with RTLD_DEEPBIND
// bypasses this; so does _exit(), which runs no handlers.

namespace distrun::rank {

// Sets the function that exit() calls first; null for none. `tell` must be async-signal-safe and return. Thread-safe.
void set_exit_listener(void (*tell)(int code) noexcept) noexcept;

// Calls the listener also when a sanitizer, if the process has one, ends the process: that bypasses exit().
void watch_sanitizer() noexcept;

}  // namespace distrun::rank
