#pragma once
// Runs code in a forked child of the test: for aborts, and for actions possible only once per process.
#include <sys/wait.h>
#include <unistd.h>

#include <fcntl.h>
#include <cerrno>
#include <csignal>
#include <cstdio>

namespace distrun::testing {

struct ForkedEnd {
  int code = -1;  // -1: killed by a signal
  int signal = 0;
  friend bool operator==(const ForkedEnd&, const ForkedEnd&) = default;
};

inline ForkedEnd wait_for(pid_t child) {
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, WIFSIGNALED(status) ? WTERMSIG(status) : 0};
}

// `body` returns the child's exit code; an exception from it gives code 99. It must not use Catch's macros.
template <class Body>
pid_t fork_child(const Body& body) {
  std::fflush(nullptr);  // otherwise the thread sanitizer's _exit() would print buffers a second time
  const pid_t child = ::fork();
  if (child != 0) return child;
  try {
    ::_exit(body());
  } catch (...) {
    ::_exit(99);
  }
}

template <class Body>
ForkedEnd in_child(const Body& body) {
  return wait_for(fork_child(body));
}

// Returns whether `body` aborts. Discards its output.
template <class Body>
bool aborts(const Body& body) {
  const ForkedEnd end = in_child([&] {
    const int null = ::open("/dev/null", O_WRONLY | O_CLOEXEC);
    ::dup2(null, STDERR_FILENO);
    ::signal(SIGABRT, SIG_DFL);
    body();
    return 0;
  });
  return end.signal == SIGABRT;
}

}  // namespace distrun::testing
