#pragma once
// A child of this process that runs a function of it, and nothing else.
#include <sys/types.h>

#include <functional>
#include <initializer_list>

namespace distrun::proc {

// Forks. In the child `serve` runs, with the descriptors `kept` as 3, 4 and so on and no others but the standard ones,
// in a session of its own, with default signals; then the child ends with 0, also if `serve` throws. The kernel kills
// it when the thread that forked it ends. Call while the process has one thread. Returns the child's pid, which the
// caller reaps, or -1 with errno.
pid_t fork_helper(const char* name, std::initializer_list<int> kept, const std::function<void()>& serve);

}  // namespace distrun::proc
