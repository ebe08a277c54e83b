// A plugin that is linked with a real Open MPI.
#include <catch2/catch.hpp>

#include <string>
#include <vector>

#include "programs.hpp"

namespace {

using namespace distrun::testing;
using Catch::Contains;

constexpr char kPlugin[] = DISTRUN_MPI_PLUGIN;
constexpr int kAllSkipped = 4;

Ended run_tests(const Sandbox& sandbox, const std::string& filter, std::vector<std::string> options = {}) {
  std::vector<std::string> all{"-w", "3", "--output", sandbox.output(), "--suspect-after", "0", "--filter", filter};
  all.insert(all.end(), options.begin(), options.end());
  all.push_back(kPlugin);
  return sandbox.run(all);
}

TestResult result_of(const Sandbox& sandbox) { return sandbox.summary().tests.at(0); }

}  // namespace

TEST_CASE("the ranks of a test whose plugin is linked with Open MPI are one world, in each attempt", "[mpi]") {
  const std::string isolation = GENERATE("process", "exec", "pool");
  const Sandbox sandbox(distrun_program());
  const Ended ended = run_tests(sandbox, "Mpi.has_*", {"--isolation", isolation, "--repeat", "3", "--jobs", "2"});
  INFO(ended.out << ended.err);
  CHECK(ended.exit_code == 0);
  CHECK(result_of(sandbox).verdict == "pass");
  CHECK(wrong_with_reports(sandbox) == "");
  CHECK(sandbox.remains().empty());
}

TEST_CASE("a test of such a plugin that does not use MPI passes as others do", "[mpi]") {
  const Sandbox sandbox(distrun_program());
  CHECK(run_tests(sandbox, "WithoutMpi.*").exit_code == 0);
  CHECK(sandbox.remains().empty());
}

TEST_CASE("ranks that are threads cannot use MPI: the test is skipped with the reason", "[mpi]") {
  const Sandbox sandbox(distrun_program());
  CHECK(run_tests(sandbox, "Mpi.has_*", {"--isolation", "threads"}).exit_code == kAllSkipped);
  CHECK(result_of(sandbox).verdict == "skip");
  CHECK(result_of(sandbox).message == "it needs MPI, whose ranks are processes");
}

TEST_CASE("ranks of a test in a collective of MPI wait for the one that is not in it", "[mpi]") {
  const Sandbox sandbox(distrun_program());
  const Ended ended = run_tests(sandbox, "Mpi.waits_*");
  CHECK(ended.exit_code == 1);
  CHECK(result_of(sandbox).verdict == "timeout");
  CHECK_THAT(result_of(sandbox).message, Contains("rank 2") && Contains("mpi_plugin.cpp:") &&
                                             Contains("ranks 0-1 wait for it in collective \"MPI_Barrier\""));
  CHECK(sandbox.remains().empty());
}

TEST_CASE("ranks of a test in MPI_Init wait for the one that has not called it", "[mpi]") {
  const Sandbox sandbox(distrun_program());
  CHECK(run_tests(sandbox, "InitMpi.*").exit_code == 1);
  CHECK_THAT(result_of(sandbox).message, Contains("rank 2") && Contains("mpi_plugin.cpp:") &&
                                             Contains("ranks 0-1 wait for it in barrier \"MPI_Init\""));
  CHECK(sandbox.remains().empty());
}

TEST_CASE("a rank of a test that calls MPI_Abort is the cause, with its code", "[mpi]") {
  const Sandbox sandbox(distrun_program());
  CHECK(run_tests(sandbox, "Mpi.aborts").exit_code == 1);
  CHECK(result_of(sandbox).verdict == "fail");
  CHECK(result_of(sandbox).message == "rank 2 called MPI_Abort(7)");
  CHECK(sandbox.remains().empty());
}

TEST_CASE("a call of MPI in a test that distrun does not support is a note of its rank", "[mpi]") {
  const Sandbox sandbox(distrun_program());
  const Ended ended = run_tests(sandbox, "Mpi.spawns", {"--verbose"});
  CHECK(ended.exit_code == 0);
  CHECK_THAT(read_file(sandbox.output() + "/summary.json"),
             Contains("MPI_Comm_spawn returned an error: distrun does not support it"));
}

TEST_CASE("tests that need MPI are skipped on several hosts, and the reason says why", "[mpi]") {
  const Sandbox sandbox(distrun_program());
  const Ended ended = run_tests(sandbox, "Mpi.has_*", {"--hosts", "a,b", "--launcher", "local"});
  INFO(ended.out << ended.err);
  CHECK(ended.exit_code == kAllSkipped);
  CHECK(result_of(sandbox).message == "needs MPI, but distrun has no world of MPI on several hosts");
  CHECK(sandbox.remains().empty());
}
