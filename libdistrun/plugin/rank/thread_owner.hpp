#pragma once
// Whose a thread is where ranks are threads of one process: the rank's to which it is bound, else its maker's. The
// kernel does not tell who made a thread, but a thread begins with the name of its maker, and those of ranks are called
// "rank 2": a thread that neither somebody bound nor somebody named is known by that.
//
// Any thread; async-signal-safe.
#include <string>

namespace distrun::rank {

// Before there is any thread of a rank. Where nobody calls it, no thread is known.
void share_process(int world_size) noexcept;

// The name of the thread that runs the bodies of a rank.
std::string thread_name_of(int rank);

// -1: nobody knows.
int owner_of_thread() noexcept;

// The calling thread works for the rank; -1: for nobody in particular. Returns for whom it did before.
int bind_thread(int rank) noexcept;

}  // namespace distrun::rank
