#include <catch2/catch.hpp>

#include <poll.h>

#include <distrun/common/base/error.hpp>
#include <distrun/runner/proc/pidfd.hpp>

#include "../support/forked.hpp"

using namespace distrun;
using namespace distrun::proc;
using testing::fork_child;

namespace {

// Waits for the end of a process, with a deadline.
bool ends(const base::Fd& pidfd) {
  pollfd wanted{pidfd.get(), POLLIN, 0};
  return ::poll(&wanted, 1, 30'000) == 1;
}

ExitStatus reaped(pid_t child) {
  REQUIRE(ends(open_pidfd(child)));
  const auto status = try_reap(child);
  REQUIRE(status);
  return *status;
}

}  // namespace

TEST_CASE("an exit code is reported as by the kernel") {
  const int code = GENERATE(0, 1, 10, 255);
  const ExitStatus status = reaped(fork_child([&] { return code; }));
  CHECK(status.exited());
  CHECK_FALSE(status.signaled());
  CHECK(status.code() == code);
  CHECK(status.signal() == 0);
  CHECK(status.clean() == (code == 0));
  CHECK(status.describe() == "exited with code " + std::to_string(code));
}

TEST_CASE("a death by a signal is reported with its number and its name") {
  const pid_t child = fork_child([] {
    ::raise(SIGKILL);
    return 0;
  });
  const ExitStatus status = reaped(child);
  CHECK(status.signaled());
  CHECK_FALSE(status.clean());
  CHECK(status.code() == -1);
  CHECK(status.signal() == SIGKILL);
  CHECK(status.describe() == "was killed by signal 9 (SIGKILL)");
}

TEST_CASE("a death that would leave a core is a death by its signal") {
  siginfo_t info{};
  info.si_code = CLD_DUMPED;
  info.si_status = SIGSEGV;
  CHECK(ExitStatus::from(info).signal() == SIGSEGV);
}

TEST_CASE("a process that runs is not reaped") {
  const pid_t child = fork_child([] {
    ::pause();
    return 0;
  });
  CHECK_FALSE(try_reap(child));
  ::kill(child, SIGKILL);
  CHECK(reaped(child).signal() == SIGKILL);
}

TEST_CASE("a child that was reaped elsewhere counts as ended, with an unknown status") {
  const pid_t child = fork_child([] { return 0; });
  testing::wait_for(child);
  const auto status = try_reap(child);
  REQUIRE(status);
  CHECK(status->code() == -1);
  CHECK_FALSE(status->clean());
  CHECK_FALSE(status->signaled());
}

TEST_CASE("a process that does not exist has no descriptor") {
  const pid_t child = fork_child([] { return 0; });
  testing::wait_for(child);
  CHECK_THROWS_WITH(open_pidfd(child), Catch::Contains("cannot watch process " + std::to_string(child)));
}
