// The static probes, as gdb sees them. bpftrace needs rights that tests may lack.
#include <catch2/catch.hpp>

#include <regex>
#include <string>

#include "compare.hpp"
#include "programs.hpp"
#include "support/environment.hpp"
#include "support/skip.hpp"

namespace {

using namespace distrun::testing;
using Catch::Contains;

#ifdef DISTRUN_HAS_SDT
constexpr bool kHasProbes = true;
#else
constexpr bool kHasProbes = false;
#endif

void need_gdb_and_probes() {
  skip_case_if(!exists("/usr/bin/gdb"), "there is no gdb");
  skip_case_if(!kHasProbes, "this build has no probes: sys/sdt.h is missing");
}

Ended gdb(const Sandbox& sandbox, Texts arguments) {
  Command command = sandbox.command(std::move(arguments));
  command.program = "/usr/bin/gdb";
  command.capture = sandbox.output() + "/gdb";
  command.arguments.insert(command.arguments.begin(), {"-nx", "-batch"});
  return Running(command).wait(scaled(milliseconds(60'000)));
}

}  // namespace

TEST_CASE("gdb lists the probes of distrun and of its ranks", "[probes]") {
  need_gdb_and_probes();
  const Sandbox sandbox(distrun_program());
  const auto probes_of = [&](const std::string& program) {
    return gdb(sandbox, {"-ex", "info probes stap ^distrun$", program}).out;
  };
  const std::string of_runner = probes_of(distrun_program());
  for (const char* const probe : {"attempt_start", "rank_start", "rank_end", "verdict"}) {
    CHECK_THAT(of_runner, Contains(probe));
  }
  const std::string of_rank = probes_of(distrun_program() + "-rank");
  CHECK_THAT(of_rank, Contains("wait_begin") && Contains("wait_end"));
}

TEST_CASE("the probe of a verdict gives gdb the test, the verdict and the time", "[probes]") {
  need_gdb_and_probes();
  const Sandbox sandbox(distrun_program());
  Running run = sandbox.start({"run", "--output", sandbox.output(), "--filter", "Hangs.one_sleeps", "--timeout", "8s",
                               "--timeout-scale", std::to_string(time_scale()), plugin("hangs")});
  std::smatch pid;
  REQUIRE(eventually(scaled(milliseconds(10'000)), [&] {
    const std::string id = sandbox.run_id_in_use();
    Command ask = sandbox.command({"ps", id});
    ask.capture = sandbox.output() + "/asked";
    const std::string told = id.empty() ? "" : Running(ask).wait(scaled(milliseconds(10'000))).out;
    static std::string text;  // `pid` refers to it
    text = told;
    return std::regex_search(text, pid, std::regex("\\(pid ([0-9]+)\\)"));
  }));
  const Ended told = gdb(sandbox, {"-p", pid[1], "-ex", "break -probe-stap distrun:verdict", "-ex", "continue", "-ex",
                                   "printf \"verdict: %s %s %ld\\n\", $_probe_arg0, $_probe_arg1, $_probe_arg2"});
  CHECK(run.wait(scaled(milliseconds(30'000))).exit_code == 1);
  INFO(told.out << told.err);
  CHECK(std::regex_search(told.out, std::regex("verdict: Hangs.one_sleeps timeout [0-9]{10}")));
}
