// Notification of the end of other processes, no matter which process is their parent.
#include <catch2/catch.hpp>

#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <future>
#include <iterator>
#include <memory>

#include <distrun/runtime/core/process_end.hpp>

namespace distrun::core {
namespace {

using namespace std::chrono_literals;

pid_t start_waiting() {
  const pid_t pid = ::fork();
  if (pid == 0) {
    for (;;) ::pause();
  }
  return pid;
}

std::size_t descriptors() {
  const std::filesystem::directory_iterator all("/proc/self/fd");
  return static_cast<std::size_t>(std::distance(begin(all), end(all)));
}

TEST_CASE("the end of an unreaped process is reported once") {
  const pid_t pid = start_waiting();
  std::promise<void> told;
  const ProcessEnd end(pid, [&told] { told.set_value(); });  // a second call would throw
  REQUIRE(end.is_told());
  auto heard = told.get_future();
  CHECK(heard.wait_for(0s) == std::future_status::timeout);
  ::kill(pid, SIGKILL);
  CHECK(heard.wait_for(60s) == std::future_status::ready);
  ::waitpid(pid, nullptr, 0);
}

TEST_CASE("the end of a process that has already exited is reported at once") {
  const pid_t pid = start_waiting();
  ::kill(pid, SIGKILL);
  ::waitpid(pid, nullptr, 0);
  bool told = false;
  const ProcessEnd end(pid, [&told] { told = true; });
  CHECK(told);
  CHECK(end.is_told());
}

TEST_CASE("a caller that has cancelled is not notified, and nothing is left open") {
  const std::size_t before = descriptors();
  const pid_t pid = start_waiting(), other = start_waiting();
  {
    bool told = false;
    std::promise<void> other_told;
    const ProcessEnd later(other, [&other_told] { other_told.set_value(); });
    std::make_unique<ProcessEnd>(pid, [&told] { told = true; }).reset();
    ::kill(pid, SIGKILL);
    ::waitpid(pid, nullptr, 0);
    ::kill(other, SIGKILL);  // its notification follows that of the first
    CHECK(other_told.get_future().wait_for(60s) == std::future_status::ready);
    CHECK_FALSE(told);
  }
  ::waitpid(other, nullptr, 0);
  CHECK(descriptors() == before);
}

TEST_CASE("in a fork the end of a process is not reported, and is_told() says so") {
  const ProcessEnd end(::getppid(), [] {});
  REQUIRE(end.is_told());
  const pid_t child = ::fork();
  if (child == 0) ::_exit(end.is_told() ? 1 : 0);
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  CHECK(status == 0);
}

}  // namespace
}  // namespace distrun::core
