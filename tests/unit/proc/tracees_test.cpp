#include <catch2/catch.hpp>

#include <poll.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <unistd.h>

#include <optional>
#include <string>
#include <thread>

#include <distrun/runner/proc/pidfd.hpp>
#include <distrun/runner/proc/process_tree.hpp>
#include <distrun/runner/proc/tracees.hpp>

#include "../../support/process.hpp"
#include "../../support/scratch.hpp"
#include "../support/forked.hpp"

using namespace distrun;
using namespace distrun::proc;
using namespace distrun::testing;

namespace {

constexpr milliseconds kSoon{10'000};

bool is_traced(pid_t pid) {
  return read_file("/proc/" + std::to_string(pid) + "/status").find("TracerPid:\t0\n") == std::string::npos;
}

char state_of(pid_t pid) {
  const std::string status = read_file("/proc/" + std::to_string(pid) + "/status");
  const std::size_t at = status.find("State:\t");
  return at == std::string::npos ? '?' : status[at + 7];
}

void trace_me() { ::ptrace(PTRACE_TRACEME, 0, nullptr, nullptr); }

}  // namespace

TEST_CASE("a child that has made this process its tracer dies of its signal") {
  const int signal = GENERATE(SIGUSR1, SIGTRAP, SIGKILL);
  const pid_t child = fork_child([&] {
    trace_me();
    ::raise(signal);
    return 1;
  });
  std::optional<ExitStatus> status;
  CHECK(eventually(kSoon, [&] {
    let_stopped_tracees_go();
    status = try_reap(child);
    return status.has_value();
  }));
  CHECK(status->signal() == signal);
}

TEST_CASE("a child that has made this process its tracer still starts its program") {
  const pid_t child = fork_child([] {
    trace_me();
    ::execlp("true", "true", nullptr);
    return 1;
  });
  std::optional<ExitStatus> status;
  CHECK(eventually(kSoon, [&] {
    let_stopped_tracees_go();
    status = try_reap(child);
    return status.has_value();
  }));
  CHECK(status->clean());
}

TEST_CASE("a running tracee is detached, and continues") {
  const pid_t child = fork_child([] {
    trace_me();
    ::poll(nullptr, 0, 60'000);
    return 1;
  });
  REQUIRE(eventually(kSoon, [&] { return is_traced(child); }));
  let_tracees_go(child);
  CHECK_FALSE(is_traced(child));
  CHECK(eventually(kSoon, [&] { return state_of(child) == 'S'; }));
  ::kill(child, SIGKILL);
  CHECK(wait_for(child) == ForkedEnd{-1, SIGKILL});
}

TEST_CASE("a child that was killed is reaped, though one of its threads has made this process its tracer") {
  const Scratch scratch;
  const std::string ready = scratch.path() + "/ready";
  const pid_t child = fork_child([&] {
    std::thread([&] {
      trace_me();
      write_file(ready, "");
      ::poll(nullptr, 0, 60'000);
    }).join();
    return 1;
  });
  REQUIRE(eventually(kSoon, [&] { return exists(ready); }));
  ::kill(child, SIGKILL);
  reap_killed(child, open_pidfd(child).get());
  CHECK(threads_of(child).empty());
}
