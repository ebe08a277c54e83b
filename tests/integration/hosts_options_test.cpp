// Options of runs that need something on each host: stress runs and debuggers, on two hosts that are nodes of this
// machine. Others are tested beside what they do on one machine.
#include <catch2/catch.hpp>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "host_processes.hpp"
#include "programs.hpp"
#include "support/skip.hpp"

namespace {

using namespace distrun::testing;
using Catch::Contains;
using Texts = std::vector<std::string>;

constexpr milliseconds kHostOptionsWithin{30'000};

Texts on_hosts_with(const Sandbox& sandbox, const Texts& more) {
  Texts words{"run", "--hosts", "a,b", "--launcher", "local", "--output", sandbox.output()};
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

bool has_load_threads(pid_t pid) {
  std::error_code error;
  for (const auto& task : std::filesystem::directory_iterator("/proc/" + std::to_string(pid) + "/task", error)) {
    const std::string comm = task.path().string() + "/comm";
    if (exists(comm) && read_file(comm).starts_with("distrun-load")) return true;
  }
  return false;
}

// Returns whether a signal has stopped a rank.
bool is_any_rank_stopped(const Sandbox& sandbox) {
  for (const ProcessInfo& each : sandbox.processes()) {
    const std::string path = "/proc/" + std::to_string(each.pid) + "/stat";
    const std::string stat = each.name == "distrun-rank" && exists(path) ? read_file(path) : "";
    const std::size_t name_end = stat.rfind(')');
    if (name_end != stat.npos && stat.compare(name_end, 3, ") T") == 0) return true;
  }
  return false;
}

}  // namespace

TEST_CASE("a stress run makes each host busy, not the machine that it was started on", "[hosts][stress]") {
  const Sandbox sandbox(distrun_program());
  Running running = sandbox.start(on_hosts_with(
      sandbox, {"--stress", "10m", "--stress-load", "cpu", "--filter", "Passes.trivial", plugin("passes")}));
  ProcessesOfRun run;
  REQUIRE(eventually(at_latest(kHostOptionsWithin), [&] {
    run = processes_of(sandbox, running);
    return run.nodes.size() == 2 && std::all_of(run.nodes.begin(), run.nodes.end(), has_load_threads);
  }));
  CHECK_FALSE(has_load_threads(run.coordinator));
  running.signal(SIGINT);
  CHECK(running.wait(at_latest(kHostOptionsWithin)).exit_code == 130);
  CHECK(sandbox.remains() == Texts{});
}

TEST_CASE("a stress run pauses ranks on other hosts, and continues them", "[hosts][stress]") {
  const Sandbox sandbox(distrun_program());
  Running running =
      sandbox.start(on_hosts_with(sandbox, {"--stress", "10m", "--stress-load", "pause", "--jobs", "2", "--isolation",
                                            "pool", "--filter", "Passes.trivial", plugin("passes")}));
  CHECK(eventually(at_latest(kHostOptionsWithin), [&] { return is_any_rank_stopped(sandbox); }));
  running.signal(SIGINT);
  CHECK(running.wait(at_latest(kHostOptionsWithin)).exit_code == 130);
  CHECK(sandbox.remains() == Texts{});
}

TEST_CASE("a stress run on several hosts counts its attempts and ends with its time", "[hosts][stress]") {
  const Sandbox sandbox(distrun_program());
  const Ended ended = sandbox.run(
      on_hosts_with(sandbox, {"--stress", "2s", "--jobs", "2", "--filter", "Passes.trivial", plugin("passes")}),
      at_latest(kHostOptionsWithin));
  INFO(ended.out << ended.err);
  CHECK(ended.exit_code == 0);
  CHECK_THAT(ended.out, Contains("stress of Passes.trivial: 0 of "));
  CHECK_THAT(ended.out, Contains("stress for 2.0 s with load cpu,memory,pause"));
  CHECK(sandbox.remains() == Texts{});
}

TEST_CASE("a rank on another host starts under gdb there, and its test passes when gdb continues it", "[hosts][look]") {
  skip_case_if(!exists("/usr/bin/gdb"), "there is no gdb");
  // The second one starts nodes and gdb by a command, as on other machines.
  const std::string launcher = GENERATE("local", "reached={host}; export reached; {node}");
  const Sandbox sandbox(distrun_program());
  const Ended ended = sandbox.run({"run", "--hosts", "a,b", "--launcher", launcher, "--debug", "3", "--output",
                                   sandbox.output(), "--filter", "Passes.trivial", plugin("passes")},
                                  at_latest(kHostOptionsWithin));
  INFO(launcher << ": " << ended.out << ended.err);
  CHECK(ended.exit_code == 0);
  CHECK_THAT(ended.out, Contains("gdb on rank 3 on b (pid "));
  CHECK_THAT(ended.out, Contains("detached"));
  CHECK(sandbox.remains() == Texts{});
}
