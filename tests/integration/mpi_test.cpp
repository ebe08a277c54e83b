// Programs that use MPI as ranks, with a real Open MPI.
#include <catch2/catch.hpp>

#include <signal.h>

#include <algorithm>
#include <string>
#include <vector>

#include "exec.hpp"
#include "support/skip.hpp"

namespace {

using namespace distrun::testing;
using Catch::Contains;

constexpr char kProgram[] = DISTRUN_MPI_PROGRAM;
constexpr char kPython[] = "/usr/bin/python3";  // for which Debian has mpi4py
constexpr auto kLimit = milliseconds(60'000);   // Open MPI starts slowly on a busy machine

std::vector<ProcessInfo> processes(const Exec& exec, const std::string& name) {
  std::vector<ProcessInfo> found = exec.sandbox().processes();
  std::erase_if(found, [&name](const ProcessInfo& process) { return process.name != name; });
  return found;
}

// The processes of the run that serve its MPI.
std::vector<ProcessInfo> servers(const Exec& exec) { return processes(exec, "distrun-pmix"); }

// Runs the program until it times out, with the report in the error output.
Ended time_out(const Exec& exec, const std::string& what) {
  Ended ended = exec.run({"-w", "3", "--suspect-after", "0", "--timeout", "8s"}, {kProgram, what});
  INFO(ended.err);
  CHECK(ended.exit_code == 1);
  CHECK(exec.result().verdict == "timeout");
  CHECK(exec.sandbox().remains().empty());
  return ended;
}

}  // namespace

TEST_CASE("the ranks of an Open MPI program are one world, which leaves nothing behind", "[mpi]") {
  const Exec exec;
  const Ended ended = exec.run({"-w", "4", "--no-prefix", "--suspect-after", "0"}, {kProgram, "compute"});
  INFO(ended.err);
  CHECK(ended.exit_code == 0);
  CHECK(ended.err.empty());
  CHECK(sorted_lines(ended.out) ==
        std::vector<std::string>{"joined 0", "joined 1", "joined 2", "joined 3", "rank 0 of 4, token 1, sum 6",
                                 "rank 1 of 4, token 2, sum 6", "rank 2 of 4, token 3, sum 6",
                                 "rank 3 of 4, token 4, sum 6"});
  CHECK(exec.result().verdict == "pass");
  CHECK(wrong_with_reports(exec.sandbox()) == "");
  CHECK(exec.sandbox().remains().empty());
}

TEST_CASE("MPI works in a private /tmp", "[mpi]") {
  const Exec exec;
  const Ended ended = exec.run({"-w", "2", "--no-prefix", "--private-tmp"}, {kProgram, "compute"});
  INFO(ended.err);
  CHECK(ended.exit_code == 0);
  CHECK_THAT(ended.out, Contains("rank 1 of 2, token 2, sum 1"));
  CHECK(exec.sandbox().remains().empty());
}

// Open MPI starts a daemon for each world of one, which outlives it.
TEST_CASE("with --mpi off each rank of an MPI program is a world of one", "[mpi]") {
  const Exec exec;
  const Ended ended = exec.run({"-w", "2", "--no-prefix", "--mpi", "off", "--leaks", "off"}, {kProgram, "compute"});
  CHECK(ended.exit_code == 0);
  CHECK(sorted_lines(ended.out) ==
        std::vector<std::string>{"joined 0", "joined 1", "rank 0 of 1, token 1, sum 0", "rank 0 of 1, token 1, sum 0"});
}

TEST_CASE("ranks find what others have published", "[mpi]") {
  const Exec exec;
  const Ended ended = exec.run({"-w", "3", "--no-prefix"}, {kProgram, "publish"});
  INFO(ended.err);
  CHECK(ended.exit_code == 0);
  const std::vector<std::string> lines = sorted_lines(ended.out);
  CHECK(std::count(lines.begin(), lines.end(), "the port of rank 0") == 3);
}

TEST_CASE("what ranks publish is limited to 16 MiB, and more is an error of their call", "[mpi]") {
  const Exec exec;
  const Ended ended = exec.run({"-w", "1", "--no-prefix"}, {kProgram, "much"});
  INFO(ended.err);
  CHECK(ended.exit_code == 0);
  CHECK_THAT(ended.out, Contains("refused in time\npublished again\n"));
}

TEST_CASE("a rank that calls MPI_Abort is the cause, with its code", "[mpi]") {
  const Exec exec;
  const Ended ended = exec.run({"-w", "3"}, {kProgram, "abort"});
  INFO(ended.err);
  CHECK(ended.exit_code == 1);
  CHECK(exec.result().verdict == "fail");
  CHECK(exec.result().message == "rank 2 called MPI_Abort(7)");
  CHECK_THAT(ended.err, Contains("rank 2: called MPI_Abort(7)"));
  CHECK(wrong_with_reports(exec.sandbox()) == "");
  CHECK(exec.sandbox().remains().empty());
}

TEST_CASE("ranks in MPI_Init wait for the one that has not called it", "[mpi]") {
  const Exec exec;
  const Ended ended = time_out(exec, "init");
  CHECK_THAT(exec.result().message,
             Contains("missing rank (likely): rank 2 sleeps in clock_nanosleep (mpi_program.cpp:") &&
                 Contains("ranks 0-1 wait for it in barrier \"MPI_Init\""));
  CHECK_THAT(ended.err, Contains("in barrier \"MPI_Init\" (mpi_program.cpp:"));
}

TEST_CASE("ranks in a collective of the world wait for the one that is not in it", "[mpi]") {
  const Exec exec;
  const Ended ended = time_out(exec, "barrier");
  CHECK_THAT(exec.result().message,
             Contains("missing rank (likely): rank 2 sleeps in clock_nanosleep (mpi_program.cpp:") &&
                 Contains("ranks 0-1 wait for it in collective \"MPI_Barrier\""));
  CHECK_THAT(ended.err, Contains("ranks 0-1 have waited in collective \"MPI_Barrier\" (mpi_program.cpp:"));
}

TEST_CASE("ranks in MPI_Finalize wait for the one that has not called it", "[mpi]") {
  const Exec exec;
  (void)time_out(exec, "finalize");
  CHECK_THAT(exec.result().message,
             Contains("missing rank (likely): rank 2 sleeps in clock_nanosleep (mpi_program.cpp:") &&
                 Contains("ranks 0-1 wait for it in collective \"MPI_Finalize\""));
}

TEST_CASE("a rank that ends without MPI_Init is the cause, not those that wait for it", "[mpi]") {
  const Exec exec;
  const Ended ended = exec.run({"-w", "3", "--grace", "2s"}, {kProgram, "die in init"});
  CHECK(ended.exit_code == 1);
  CHECK(exec.result().message == "rank 2 exited with code 3");
  CHECK(exec.sandbox().remains().empty());
}

TEST_CASE("processes that a rank spawns are a world, talk to it, and write to its output", "[mpi]") {
  const Exec exec;
  const Ended ended = exec.run({"-w", "3", "--verbose"}, {kProgram, "spawn well"});
  INFO(ended.out << ended.err);
  CHECK(ended.exit_code == 0);
  CHECK_THAT(ended.out, Contains("[rank 2] child 0 sends 40\n") && Contains("[rank 2] child 1 sends 41\n"));
  CHECK_THAT(read_file(exec.sandbox().output() + "/summary.json"),
             Contains("has spawned " + std::string(kProgram) + " (2 processes)"));
  CHECK(exec.sandbox().remains().empty());
}

TEST_CASE("a spawned process that fails is the failure of the rank that has spawned it", "[mpi]") {
  const auto [what, why] = GENERATE(table<const char*, const char*>(
      {{"spawn crash", "was killed by signal 6 (SIGABRT)"}, {"spawn abort", "called MPI_Abort(8)"}}));
  const Exec exec;
  const Ended ended = exec.run({"-w", "3"}, {kProgram, what});
  INFO(ended.out << ended.err);
  CHECK(ended.exit_code == 1);
  CHECK_THAT(exec.result().message,
             Contains("rank 2") && Contains("mpi_program, which it has spawned, ") && Contains(why));
  CHECK(exec.sandbox().remains().empty());
}

TEST_CASE("spawned processes that hang are shown, and are ended with the ranks", "[mpi]") {
  const Exec exec;
  const Ended ended = time_out(exec, "spawn hang");
  CHECK_THAT(ended.err, Contains("mpi_program.cpp:") && Contains("sleep_for_long"));
  CHECK(processes(exec, "mpi_program").empty());
}

TEST_CASE("a program that cannot be spawned is an error of the call, and a note says why", "[mpi]") {
  const Exec exec;
  const Ended ended = exec.run({"-w", "3", "--verbose"}, {kProgram, "spawn nothing"});
  INFO(ended.out << ended.err);
  CHECK(ended.exit_code == 0);
  CHECK_THAT(ended.out, Contains("[rank 2] refused\n"));
  CHECK_THAT(read_file(exec.sandbox().output() + "/summary.json"),
             Contains("cannot start /there/is/none: No such file"));
  CHECK(exec.sandbox().remains().empty());
}

TEST_CASE("if MPI's server crashes, the report says so, and it is no rank's fault", "[mpi]") {
  const Exec exec;
  Running running = exec.start({"-w", "3"}, {kProgram, "barrier"});
  REQUIRE(eventually(scaled(kLimit), [&] { return processes(exec, "mpi_program").size() == 3; }));
  ::kill(servers(exec).front().pid, SIGKILL);
  const Ended ended = running.wait(scaled(kLimit));
  CHECK(ended.exit_code == 3);
  CHECK_THAT(ended.err, Contains("distrun-pmix, which serves the ranks' MPI, has failed: it was killed by signal 9"));
  CHECK(exec.sandbox().remains().empty());
}

TEST_CASE("MPI's server ends with a coordinator that is killed", "[mpi]") {
  const Exec exec;
  Running running = exec.start({"-w", "3"}, {kProgram, "barrier"});
  REQUIRE(eventually(scaled(kLimit), [&] { return !servers(exec).empty(); }));
  ::kill(servers(exec).front().parent, SIGKILL);
  CHECK(running.wait(scaled(kLimit)).exit_code == 3);
  CHECK(servers(exec).empty());
  CHECK(exec.sandbox().remains().empty());
}

TEST_CASE("with --mpi on Python's mpi4py has a world, which its program does not show before", "[mpi]") {
  const Exec exec;
  const bool has_module = exec.run({"-w", "1", "--mpi", "off"}, {kPython, "-c", "import mpi4py"}).exit_code == 0;
  skip_case_if(!has_module, "there is no mpi4py (Debian's package python3-mpi4py)");
  const std::string script =
      "from mpi4py import MPI; w = MPI.COMM_WORLD; print('size', w.size, 'sum', w.allreduce(w.rank))";
  const Ended ended = exec.run({"-w", "3", "--no-prefix", "--mpi", "on"}, {kPython, "-c", script});
  INFO(ended.err);
  CHECK(ended.exit_code == 0);
  CHECK(ended.out == "size 3 sum 3\nsize 3 sum 3\nsize 3 sum 3\n");
  CHECK_THAT(exec.run({"-w", "3", "--no-prefix"}, {kPython, "-c", script}).out, Contains("size 1 sum 0"));
}

TEST_CASE("a world of MPI that no rank has joined is worth a line", "[mpi]") {
  const Exec exec;
  const Ended ended = exec.run({"-w", "2", "--mpi", "on"}, {"/bin/true"});
  CHECK(ended.exit_code == 0);
  CHECK_THAT(ended.err, Contains("no rank has joined the world of MPI"));
  CHECK(exec.sandbox().remains().empty());
}

TEST_CASE("the option --mpi on is refused together with several hosts", "[mpi]") {
  const Exec exec;
  const Ended ended = exec.run({"-w", "2", "--mpi", "on", "--hosts", "a,b"}, {kProgram, "compute"});
  CHECK(ended.exit_code == 2);
  CHECK_THAT(ended.err, Contains("--mpi on: distrun has no world of MPI on several hosts"));
}
