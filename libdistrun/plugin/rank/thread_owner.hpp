#pragma once
// Finds the rank of a thread, if ranks are threads of one process: the rank that it is bound to, else that of its
// creator. The kernel does not record the creator, but a new thread inherits its name, and threads of ranks are named
// "rank 2". So a thread that is neither bound nor renamed is recognised by its name.
//
// Any thread; async-signal-safe.
#include <string>

namespace distrun::rank {

// Call it before there is any thread of a rank. Without it, no thread has a known rank.
void share_process(int world_size) noexcept;

// Returns the name of the thread that runs a rank's bodies.
std::string thread_name_of(int rank);

// Returns -1 if unknown.
int owner_of_thread() noexcept;

// Binds the calling thread to a rank; -1: to none. Returns the previous one.
int bind_thread(int rank) noexcept;

}  // namespace distrun::rank
