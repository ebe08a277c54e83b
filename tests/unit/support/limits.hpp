#pragma once
// Limits of this process, for a scope, and of a forked one.
#include <signal.h>
#include <sys/resource.h>

#include <functional>

#include "support/limits.hpp"
#include "unit/support/forked.hpp"

namespace distrun::testing {

// Like in_child(), with files of at most 4 KiB and the default effect of SIGXFSZ. Returns the result of `body`; if
// negative, the signal that has ended the process.
inline int under_small_file_limit(const std::function<int()>& body) {
  const ForkedEnd end = in_child([&] {
    ::signal(SIGXFSZ, SIG_DFL);
    rlimit limit{};
    ::getrlimit(RLIMIT_FSIZE, &limit);
    limit.rlim_cur = 4096;
    ::setrlimit(RLIMIT_FSIZE, &limit);
    return body();
  });
  return end.signal != 0 ? -end.signal : end.code;
}

}  // namespace distrun::testing
