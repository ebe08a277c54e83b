#include "disturb.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "support/scratch.hpp"

namespace distrun::soak {
namespace {

using fixtures::Disturbs;

constexpr milliseconds kVictimComesWithin{1000};
constexpr int kPipeBytes = 4096;  // so that a reader who does not read is soon felt

void close_once(int& fd) {
  if (fd >= 0) close(fd);
  fd = -1;
}

// 0: it has none.
pid_t first_child_of(pid_t pid) {
  const auto children = pid == 0 ? std::vector<pid_t>{} : testing::children_of(pid);
  return children.empty() ? 0 : children.front();
}

pid_t zygote_of(pid_t coordinator) {
  if (coordinator == 0) return 0;
  for (const pid_t child : testing::children_of(coordinator)) {
    const std::string arguments = testing::read_file("/proc/" + std::to_string(child) + "/cmdline");
    // Its ranks have the same arguments, but have come later: the first is the zygote.
    if (arguments.find(std::string("\0--zygote\0", 10)) != std::string::npos) return child;
  }
  return 0;
}

// A daemon has no other child than the guard of its run.
pid_t find_victim(const testing::Running& running, const testing::Daemon* daemon, Disturbs victim) {
  const pid_t guard = daemon == nullptr ? running.pid() : first_child_of(daemon->pid());
  if (victim == Disturbs::KilledDaemon) return guard == 0 ? 0 : daemon->pid();
  if (victim == Disturbs::KilledGuard) return guard;
  const pid_t coordinator = first_child_of(guard);
  return victim == Disturbs::KilledZygote ? zygote_of(coordinator) : coordinator;
}

}  // namespace

bool strike(const testing::Running& running, const testing::Daemon* daemon, Disturbs victim) {
  pid_t found = 0;
  testing::eventually(kVictimComesWithin, [&] {
    found = find_victim(running, daemon, victim);
    return found != 0 || running.ends_within(milliseconds(0));
  });
  return found != 0 && !running.ends_within(milliseconds(0)) && kill(found, SIGKILL) == 0;
}

Reader::Reader() {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) throw std::system_error(errno, std::generic_category(), "cannot make a pipe");
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
