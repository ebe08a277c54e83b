#pragma once
// Processes as tests leave them behind: daemons in separate sessions, and hoppers that constantly change their pid.
// Each reports its pid on a pipe, which closes with the last of them.
#include <poll.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <ctime>

#include <distrun/common/base/fd.hpp>

#include "../support/forked.hpp"

namespace distrun::testing {

class Offspring {
 public:
  Offspring() : pipe_(base::make_pipe()) {}

  // Forks from the calling process; returns the pid of the daemon; its parent has exited.
  pid_t start_daemon() {
    return start([] {
      ::setsid();
      for (const int signal : {SIGTERM, SIGINT, SIGHUP}) ::signal(signal, SIG_IGN);
      for (;;) ::pause();
    });
  }

  // Starts a process that forks every millisecond and lets its child go on, for half a minute at most.
  pid_t start_hopper() {
    return start([] {
      ::setsid();
      for (int hop = 0; hop < 30'000; ++hop) {
        ::poll(nullptr, 0, 1);
        if (::fork() != 0) ::_exit(0);
      }
      ::_exit(0);
    });
  }

  // Starts a process that forks some thousand times a second and lets its child go on, for half a minute at most:
  // faster than a list of processes is read, and slow enough not to fill the machine's process table.
  pid_t start_chain() {
    return start([] {
      const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(30);
      timespec breath{0, 200'000};
      while (std::chrono::steady_clock::now() < end) {
        ::ppoll(nullptr, 0, &breath, nullptr);
        if (::fork() > 0) ::_exit(0);
      }
      ::_exit(0);
    });
  }

  // Returns whether all of them end soon. Call once, in the process that created this.
  bool all_gone() {
    pipe_.second.reset();
    pollfd wanted{pipe_.first.get(), POLLIN, 0};
    char byte = 0;
    while (::poll(&wanted, 1, 20'000) == 1) {
      if (::read(pipe_.first.get(), &byte, 1) == 0) return true;
    }
    return false;
  }

 private:
  template <class Life>
  pid_t start(const Life& life) {
    const base::FdPair told = base::make_pipe();
    const pid_t parent = fork_child([&] {
      const pid_t daemon = fork_child([&] {
        life();
        return 0;
      });
      return ::write(told.second.get(), &daemon, sizeof daemon) == sizeof daemon ? 0 : 1;
    });
    wait_for(parent);
    pid_t daemon = 0;
    return ::read(told.first.get(), &daemon, sizeof daemon) == sizeof daemon ? daemon : 0;
  }

  base::FdPair pipe_;
};

}  // namespace distrun::testing
