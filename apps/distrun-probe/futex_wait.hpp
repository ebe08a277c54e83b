#pragma once
// Finds what a thread waits for on a futex, and its holder, from the thread's innermost functions and the memory there.
// Names alone decide the kind, since most kinds look alike in memory; glibc's layouts of mutexes and read-write locks
// name the owner. A pure and strict function: an owner is named only if all fields look as that kind of lock does while
// threads wait for it. Thread-safe.
#include <sys/types.h>

#include <functional>
#include <string>
#include <vector>

#include <distrun/common/wire/stacks.hpp>

#include "capture.hpp"

namespace distrun::probe {

struct FutexPlace {
  pid_t pid = 0;
  pid_t tid = 0;  // the waiting thread
  std::uint64_t address = 0;
  FutexWords words{};
  // Innermost functions of the C and C++ libraries, as qualified_name() returns them.
  std::vector<std::string> functions;
  bool has_other_ids = false;  // the process is in a container: ids in its memory are not ours
};

// Returns the process of a living thread; 0: there is no such thread.
using ProcessOfThread = std::function<pid_t(pid_t)>;

// Adds to `seen`, the kernel's view of the wait. `threads` are all of the process.
wire::ObservedWait observe_futex(const FutexPlace& place, wire::ObservedWait seen,
                                 const std::vector<wire::ThreadStack>& threads, const ProcessOfThread& process_of);

}  // namespace distrun::probe
