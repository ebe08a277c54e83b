// --bind: the CPUs that ranks run on.
#include <catch2/catch.hpp>

#include <algorithm>
#include <set>
#include <sstream>
#include <string>

#include "exec.hpp"
#include "support/skip.hpp"

namespace {

using namespace distrun::testing;
using Catch::Contains;

using Cpus = std::set<std::string>;

// Returns the CPUs of a list such as "Cpus_allowed_list: 0-3,8".
Cpus cpus_in(const std::string& text) {
  Cpus cpus;
  const std::size_t digit = text.find_first_of("0123456789");
  std::istringstream ranges(digit == std::string::npos ? "" : text.substr(digit));
  for (std::string range; std::getline(ranges, range, ',');) {
    const std::size_t dash = range.find('-');
    const int first = std::stoi(range);
    const int last = dash == std::string::npos ? first : std::stoi(range.substr(dash + 1));
    for (int cpu = first; cpu <= last; ++cpu) cpus.insert(std::to_string(cpu));
  }
  return cpus;
}

// Returns what rank `name` has written.
Cpus written(const Sandbox& sandbox, const std::string& name) {
  return cpus_in(read_file(sandbox.start_directory() + "/" + name));
}

bool share_one(const Cpus& a, const Cpus& b) {
  return std::any_of(a.begin(), a.end(), [&](const std::string& cpu) { return b.contains(cpu); });
}

Cpus usable_cpus() {
  const std::string status = read_file("/proc/self/status");
  const std::size_t line = status.find("Cpus_allowed_list:");
  return cpus_in(status.substr(line, status.find('\n', line) - line));
}

void require_two_cores() {
  std::set<std::string> cores;
  for (const std::string& cpu : usable_cpus()) {
    cores.insert(read_file("/sys/devices/system/cpu/cpu" + cpu + "/topology/thread_siblings_list"));
  }
  skip_case_if(cores.size() < 2, "it needs two cores");
}

Ended run_bound(const Sandbox& sandbox, const std::string& isolation, const std::string& bind) {
  return sandbox.run({"run", "--output", sandbox.output(), "--isolation", isolation, "--bind", bind, "--env",
                      "BOUND_DIR=" + sandbox.start_directory(), "--filter", "Bound.writes*", DISTRUN_BOUND});
}

}  // namespace

TEST_CASE("ranks that are bound to cores have cores of their own, in every isolation", "[bind]") {
  require_two_cores();
  for (const char* isolation : {"process", "exec", "pool", "threads"}) {
    INFO(isolation);
    const Sandbox sandbox(distrun_program());
    const Ended ended = run_bound(sandbox, isolation, "core");
    INFO(ended.out << ended.err);
    CHECK(ended.exit_code == 0);
    CHECK_THAT(ended.out, Contains(", ranks bound to cores"));
    const Cpus first = written(sandbox, "0"), second = written(sandbox, "1");
    CHECK_FALSE((first.empty() || second.empty() || share_one(first, second)));
    CHECK((written(sandbox, "again0") == first && written(sandbox, "again1") == second));
    CHECK_THAT(read_file(sandbox.output() + "/summary.json"), Contains("\"bind\": \"core\""));
    CHECK(wrong_with_reports(sandbox).empty());
  }
}

TEST_CASE("ranks on several hosts are bound by each host to its cores", "[bind][hosts]") {
  require_two_cores();
  const Sandbox sandbox(distrun_program());
  const Ended ended = sandbox.run(
      {"run", "--output", sandbox.output(), "--hosts", "a:1,b:2", "--launcher", "local", "--world-size", "3", "--bind",
       "core", "--env", "BOUND_DIR=" + sandbox.start_directory(), "--filter", "BoundHosts.*", DISTRUN_BOUND});
  INFO(ended.out << ended.err);
  CHECK(ended.exit_code == 0);
  CHECK(written(sandbox, "host0") == usable_cpus());
  const Cpus second = written(sandbox, "host1"), third = written(sandbox, "host2");
  CHECK_FALSE((second.empty() || third.empty() || share_one(second, third)));
}

TEST_CASE("ranks that are not bound may run on all usable CPUs", "[bind]") {
  const Sandbox sandbox(distrun_program());
  CHECK(run_bound(sandbox, "process", "none").exit_code == 0);
  CHECK((written(sandbox, "0") == usable_cpus() && written(sandbox, "1") == usable_cpus()));
}

TEST_CASE("ranks that are bound to nodes run on usable CPUs", "[bind]") {
  const Sandbox sandbox(distrun_program());
  const Ended ended = run_bound(sandbox, "process", "numa");
  INFO(ended.out << ended.err);
  CHECK(ended.exit_code == 0);
  CHECK_THAT(ended.out, Contains(", ranks bound to NUMA nodes"));
  const Cpus usable = usable_cpus();
  for (const char* rank : {"0", "1"}) {
    const Cpus cpus = written(sandbox, rank);
    CHECK_FALSE(cpus.empty());
    CHECK(std::includes(usable.begin(), usable.end(), cpus.begin(), cpus.end()));
  }
}

TEST_CASE("programs are bound before they begin", "[bind][exec]") {
  require_two_cores();
  const Exec exec;
  const Ended ended = exec.shell({"-w", "2", "--bind", "core"}, "grep Cpus_allowed_list /proc/self/status > " +
                                                                    exec.sandbox().start_directory() + "/$RANK");
  INFO(ended.out << ended.err);
  CHECK(ended.exit_code == 0);
  CHECK_FALSE(share_one(written(exec.sandbox(), "0"), written(exec.sandbox(), "1")));
}

TEST_CASE("programs on several hosts are bound by each host to its cores", "[bind][exec][hosts]") {
  require_two_cores();
  const Exec exec;
  const Ended ended = exec.shell({"-w", "3", "--hosts", "a:1,b:2", "--launcher", "local", "--bind", "core"},
                                 "(grep Cpus_allowed_list /proc/self/status; echo \"together: $DISTRUN_CPUS\") > " +
                                     exec.sandbox().start_directory() + "/$RANK");
  INFO(ended.out << ended.err);
  CHECK(ended.exit_code == 0);
  const Cpus first = written(exec.sandbox(), "0"), second = written(exec.sandbox(), "1");
  const Cpus third = written(exec.sandbox(), "2");
  CHECK(first == usable_cpus());
  CHECK_FALSE((second.empty() || third.empty() || share_one(second, third)));
  const std::string together = "together: " + std::to_string(second.size() + third.size()) + "\n";
  CHECK_THAT(read_file(exec.sandbox().start_directory() + "/2"), Contains(together));
}

TEST_CASE("a test of bound ranks that fails is repeated with them bound", "[bind]") {
  const Sandbox sandbox(distrun_program());
  const Ended ended = sandbox.run({"run", "--bind", "core", "--filter", "Bound.fails", DISTRUN_BOUND});
  INFO(ended.out << ended.err);
  CHECK(ended.exit_code == 1);
  CHECK_THAT(ended.out, Contains("--bind core"));
}

TEST_CASE("a bound program that fails is repeated with its ranks bound", "[bind][exec]") {
  const Exec exec;
  const Ended ended = exec.run({"-w", "2", "--bind", "core"}, {"/bin/false"});
  INFO(ended.out << ended.err);
  CHECK(ended.exit_code == 1);
  CHECK_THAT(ended.err, Contains("again: ") && Contains("--bind core"));
}
