#include <catch2/catch.hpp>

#include <sched.h>

#include <distrun/runner/record/machine.hpp>

using namespace distrun::runner;

TEST_CASE("only CPUs that distrun may use are counted") {
  cpu_set_t before{};
  REQUIRE(::sched_getaffinity(0, sizeof before, &before) == 0);
  CHECK(this_machine().cpus == CPU_COUNT(&before));
  cpu_set_t one{};
  CPU_SET(static_cast<unsigned>(::sched_getcpu()), &one);
  REQUIRE(::sched_setaffinity(0, sizeof one, &one) == 0);
  CHECK(this_machine().cpus == 1);
  REQUIRE(::sched_setaffinity(0, sizeof before, &before) == 0);
}

TEST_CASE("a report describes this machine") {
  const Machine machine = this_machine();
  CHECK_FALSE(machine.hostname.empty());
  CHECK_THAT(machine.kernel, Catch::StartsWith("Linux "));
  CHECK(machine.cpus >= 1);
  CHECK(machine.memory_bytes > (std::uint64_t{64} << 20));
}
