#include <catch2/catch.hpp>

#include <signal.h>
#include <unistd.h>

#include <distrun/runner/launch/cpu_times.hpp>

#include "support/sandbox.hpp"

using namespace distrun;
using namespace distrun::testing;

TEST_CASE("a process with a running thread is not at rest") { CHECK_FALSE(launch::cpu_time_at_rest(::getpid())); }

TEST_CASE("a process that sleeps, and its sleeping child, use no CPU time") {
  const Running sleeper({"/bin/sh", {"-c", "sleep 100 & exec sleep 100"}});
  const auto rests = [&] {
    const auto used = launch::cpu_time_at_rest(sleeper.pid());
    return used && *used > 0 && used == launch::cpu_time_at_rest(sleeper.pid());
  };
  CHECK(eventually(scaled(milliseconds(10'000)), rests));
  sleeper.signal(SIGKILL);
}

TEST_CASE("the CPU times of a snapshot are read again after it") {
  evidence::Stacks stacks;
  evidence::Process& process = stacks.processes.emplace_back();
  process.pid = ::getpid();
  process.threads.emplace_back().task.tid = ::getpid();
  launch::read_cpu_times_again(stacks);
  CHECK(process.threads.front().task.cpu_ns > 0);
}
