#pragma once
// Real processes that wait for each other, for the tests to inspect.
#include <fcntl.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <initializer_list>
#include <string>
#include <vector>

#include <distrun/common/base/fd.hpp>
#include <distrun/runner/evidence/waits/blocked_on.hpp>

#include "../support/forked.hpp"
#include "support/process.hpp"

namespace distrun::testing {

// Limit for a test that hangs; a passing test never waits this long.
inline constexpr milliseconds kLongWait{30'000};

// Closes all descriptors but the standard ones and these, so that a child has only the ends that it should.
inline void keep_only(std::initializer_list<int> kept) {
  std::vector<int> fds(kept);
  std::sort(fds.begin(), fds.end());
  unsigned next = 3;
  for (const int fd : fds) {
    if (fd < 3) continue;
    if (static_cast<unsigned>(fd) > next) ::close_range(next, static_cast<unsigned>(fd) - 1, 0);
    next = static_cast<unsigned>(fd) + 1;
  }
  ::close_range(next, ~0U, 0);
}

// A child that keeps the named descriptors and runs `body`; killed by the destructor.
class Actor {
 public:
  template <class Body>
  Actor(std::initializer_list<int> kept, Body body)
      : pid_(fork_child([&] {
          keep_only(kept);
          body();
          return 0;
        })) {}
  Actor(const Actor&) = delete;
  ~Actor() {
    ::kill(pid_, SIGKILL);
    wait_for(pid_);
  }
  pid_t pid() const { return pid_; }

 private:
  pid_t pid_;
};

// Waits for a signal, in rt_sigsuspend on every machine: pause() uses different calls.
inline void rest() {
  sigset_t none;
  ::sigemptyset(&none);
  ::sigsuspend(&none);
}

inline void read_byte(int fd) {
  char byte = 0;
  (void)!::read(fd, &byte, 1);
}

// Writes until the pipe or socket is full, and blocks.
inline void write_forever(int fd) {
  static const char bytes[4096]{};
  while (::write(fd, bytes, sizeof bytes) > 0) {
  }
}

// Returns what the main thread of `pid` waits for, among the given processes.
inline evidence::Blocked look_at(pid_t pid, const evidence::Connections& all) {
  return evidence::blocked_thread(all, evidence::read_lock_waits(), evidence::RemoteMemory(pid, true), pid);
}
inline evidence::Blocked look_at(pid_t pid) { return look_at(pid, evidence::find_connections({pid})); }

// Waits until the main thread sleeps in a call that begins like this.
inline bool gets_to(pid_t pid, const std::string& call) {
  return eventually(kLongWait, [&] {
    const evidence::Blocked now = look_at(pid);
    return now.state != 'R' && now.call.starts_with(call);
  });
}

inline std::string with_fd(const std::string& call, int fd) { return call + "(" + std::to_string(fd) + ")"; }

}  // namespace distrun::testing
