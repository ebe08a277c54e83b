#pragma once
// The guard: the process that the user started. It forks the coordinator, forwards signals to it, and
// when the coordinator dies, whatever killed it, ends every process of the run and removes its files. The
// coordinator watches the guard in turn and ends the run if the guard dies.
#include <functional>

#include <distrun/base/fd.hpp>
#include <distrun/proc/run_files.hpp>

namespace distrun::proc {

// Whether a signal asks a run to end politely: SIGINT, SIGTERM, SIGHUP.
bool is_interruption(int signal) noexcept;

struct Coordinator {
  base::Fd guard;  // readable once the guard is dead
};

// Forks. `coordinator` runs in the child, whose exit code it returns; the guard returns that code to its caller; 130 if
// a signal that interrupts came before the coordinator listened; or 3 after a sentence on stderr if it was killed
// otherwise. Call before any thread exists.
int run_guarded(const RunPlaces& places, const std::function<int(Coordinator)>& coordinator);

}  // namespace distrun::proc
