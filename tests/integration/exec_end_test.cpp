// distrun exec: programs that end early, by a signal or because their output is no longer read.
#include <catch2/catch.hpp>

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <string>
#include <vector>

#include "exec.hpp"

namespace {

using namespace distrun::testing;
using Catch::Contains;

// Returns a script that writes each received signal into a file, and ends on SIGTERM, or on SIGINT if `ends_by_int`.
std::string listening(const std::string& directory, bool ends_by_int = false) {
  const std::string file = directory + "/heard$RANK";
  return "trap 'echo USR1 >>" + file + "' USR1; trap 'echo USR2 >>" + file + "' USR2; trap 'echo INT >>" + file +
         (ends_by_int ? "; exit 0" : "") + "' INT; trap 'echo TERM >>" + file + "; exit 0' TERM; echo begun >>" + file +
         "; while :; do sleep 0.05; done";
}

// Returns the signals that the rank has received, in order, one per line.
std::string heard(const Exec& exec, int rank) {
  return read_file(exec.sandbox().output() + "/heard" + std::to_string(rank));
}

bool eventually_heard(const Exec& exec, int rank, const std::string& text) {
  return eventually(scaled(milliseconds(10'000)), [&] { return heard(exec, rank) == text; });
}

Running start_listening(const Exec& exec, std::vector<std::string> options, bool ends_by_int = false) {
  options.insert(options.end(), {"-w", "2", "--kill-after", "100s"});
  Running running = exec.start(options, {"/bin/sh", "-c", listening(exec.sandbox().output(), ends_by_int)});
  for (const int rank : {0, 1}) REQUIRE(eventually_heard(exec, rank, "begun\n"));
  return running;
}

}  // namespace

TEST_CASE("a reader that closes the output early ends the programs, and the dropped output is reported", "[exec]") {
  const Exec exec;
  int line[2];
  REQUIRE(pipe2(line, O_CLOEXEC) == 0);
  Command command = exec.sandbox().command({"exec", "-w", "2", "--output", exec.sandbox().output(), "--", "/bin/sh",
                                            "-c", "while :; do echo a line of rank $RANK; done"});
  command.standard_output = line[1];
  Running running(command);
  close(line[1]);
  char first = 0;
  REQUIRE(read(line[0], &first, 1) == 1);
  close(line[0]);  // like head
  const Ended ended = running.wait(scaled(milliseconds(10'000)));
  INFO(ended.err);
  CHECK_FALSE(ended.out_of_time);
  CHECK(ended.exit_code == 3);
  CHECK_THAT(ended.err, Contains("the reader of standard output is gone (Broken pipe") && Contains("were dropped") &&
                            Contains("--per-rank-log"));
  CHECK_FALSE(exec.sandbox().summary().interrupted);
  CHECK(exec.sandbox().remains().empty());
}

TEST_CASE("output that cannot be shown does not end the programs, and is exit code 3", "[exec]") {
  const Exec exec;
  Command command = exec.sandbox().command({"exec", "-w", "2", "--output", exec.sandbox().output(), "--", "/bin/sh",
                                            "-c", "echo lost; echo done >" + exec.sandbox().output() + "/done$RANK"});
  const int full = open("/dev/full", O_WRONLY | O_CLOEXEC);
  command.standard_output = full;
  const Ended ended = Running(command).wait(scaled(milliseconds(10'000)));
  close(full);
  CHECK(ended.exit_code == 3);
  CHECK_THAT(ended.err, Contains("cannot write standard output: No space left on device"));
  for (const char* rank : {"0", "1"}) CHECK(read_file(exec.sandbox().output() + "/done" + rank) == "done\n");
}

TEST_CASE("SIGUSR1 and SIGUSR2 reach every program once each, and end none", "[exec]") {
  const Exec exec;
  Running running = start_listening(exec, {});
  running.signal(SIGUSR1);
  for (const int rank : {0, 1}) CHECK(eventually_heard(exec, rank, "begun\nUSR1\n"));
  running.signal(SIGUSR2);
  for (const int rank : {0, 1}) CHECK(eventually_heard(exec, rank, "begun\nUSR1\nUSR2\n"));
  running.signal(SIGTERM);
  CHECK(running.wait(scaled(milliseconds(10'000))).exit_code == 130);
  for (const int rank : {0, 1}) CHECK(heard(exec, rank) == "begun\nUSR1\nUSR2\nTERM\n");  // each once
  CHECK(exec.sandbox().remains().empty());
}

TEST_CASE("programs that are ended get the signal that the user has named, once, and then SIGTERM", "[exec]") {
  const Exec exec;
  SECTION("a program that obeys it") {
    Running running = start_listening(exec, {"--stop-signal", "SIGINT"}, true);
    running.signal(SIGTERM);
    CHECK(running.wait(scaled(milliseconds(10'000))).exit_code == 130);
    for (const int rank : {0, 1}) CHECK(heard(exec, rank) == "begun\nINT\n");
  }
  SECTION("a program that does not") {
    Running running = exec.start({"-w", "2", "--stop-signal", "INT", "--kill-after", "1s"},
                                 {"/bin/sh", "-c", listening(exec.sandbox().output())});
    for (const int rank : {0, 1}) REQUIRE(eventually_heard(exec, rank, "begun\n"));
    running.signal(SIGINT);
    CHECK(running.wait(scaled(milliseconds(10'000))).exit_code == 130);
    for (const int rank : {0, 1}) CHECK(heard(exec, rank) == "begun\nINT\nTERM\n");
  }
  CHECK(exec.sandbox().remains().empty());
}

TEST_CASE("a signal that does not end programs is refused, and the chosen one is in the repeat command", "[exec]") {
  const Exec exec;
  const Ended refused = exec.run({"--stop-signal", "SIGKILL"}, {"/bin/true"});
  CHECK(refused.exit_code == 2);
  CHECK_THAT(refused.err, Contains("--stop-signal SIGKILL") && Contains("SIGINT"));
  const Ended failed = exec.run({"-w", "1", "--stop-signal", "int"}, {"/bin/false"});
  CHECK(failed.exit_code == 2);  // names are spelled as in signal(7)
  CHECK_THAT(exec.run({"-w", "1", "--stop-signal", "2"}, {"/bin/false"}).err, Contains("--stop-signal SIGINT"));
  CHECK(wrong_with_reports(exec.sandbox()).empty());
}
