#pragma once
// Processes as tests leave them behind: daemons in a session of their own, and hoppers that change their pid
// all the time. Each says its pid on a pipe, which closes when the last of them is gone.
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

  // In whoever is to become its parent; the pid of the daemon, whose own parent is gone.
  pid_t start_daemon() {
    return start([] {
      ::setsid();
      for (const int signal : {SIGTERM, SIGINT, SIGHUP}) ::signal(signal, SIG_IGN);
      for (;;) ::pause();
    });
  }

  // It forks every millisecond and lets its child go on, for half a minute at most.
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

  // It forks some thousand times a second and lets its child go on, for half a minute at most: faster than a list of
  // processes is read, and slow enough not to fill the machine's table of them.
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

  // Whether all of them end soon. To be asked once, by the process that has made this.
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
