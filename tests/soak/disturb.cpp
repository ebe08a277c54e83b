#include "disturb.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>
#include <vector>

#include "support/victims.hpp"

namespace distrun::soak {
namespace {

using fixtures::Disturbs;

constexpr milliseconds kVictimComesWithin{1000};
constexpr int kPipeBytes = 4096;  // small, so that a reader that does not read blocks distrun soon

void close_once(int& fd) {
  if (fd >= 0) close(fd);
  fd = -1;
}

testing::Victim victim_of(Disturbs what) {
  switch (what) {
    case Disturbs::KilledDaemon: return testing::Victim::Daemon;
    case Disturbs::KilledGuard: return testing::Victim::Guard;
    case Disturbs::KilledZygote: return testing::Victim::Zygote;
    default: return testing::Victim::Coordinator;
  }
}

}  // namespace

bool strike(const testing::Running& running, const testing::Daemon* daemon, Disturbs what) {
  std::vector<pid_t> found;
  testing::eventually(kVictimComesWithin, [&] {
    found = victims_of(running, daemon, victim_of(what));
    return !found.empty() || running.ends_within(milliseconds(0));
  });
  return !found.empty() && !running.ends_within(milliseconds(0)) && kill(found.front(), SIGKILL) == 0;
}

Reader::Reader() {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) throw std::system_error(errno, std::generic_category(), "cannot create a pipe");
  read_ = ends[0];
  write_ = ends[1];
  fcntl(write_, F_SETPIPE_SZ, kPipeBytes);
}

Reader::~Reader() {
  close_once(read_);
  close_once(write_);
}

void Reader::hand_over() { close_once(write_); }
void Reader::go_away() { close_once(read_); }

std::string Reader::read(std::size_t bytes, milliseconds pause, milliseconds limit) {
  const auto end = std::chrono::steady_clock::now() + limit;
  std::string all;
  std::string part(bytes, '\0');
  for (;;) {
    const auto left = std::chrono::duration_cast<milliseconds>(end - std::chrono::steady_clock::now());
    pollfd readable{read_, POLLIN, 0};
    if (left.count() <= 0 || poll(&readable, 1, static_cast<int>(left.count())) <= 0) return all;
    const ssize_t got = ::read(read_, part.data(), part.size());
    if (got <= 0) return all;
    all.append(part, 0, static_cast<std::size_t>(got));
    testing::pause_for(pause);
  }
}

}  // namespace distrun::soak
