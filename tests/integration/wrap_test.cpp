// --wrap and --wrap-rank: ranks under a command such as valgrind or strace. The command here is a script that starts
// the rank as a child and stays, as strace and perf do; with exec it becomes the rank, as valgrind does.
#include <catch2/catch.hpp>

#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "exec.hpp"

namespace {

using namespace distrun::testing;
using Catch::Contains;

constexpr char kStays[] = "out=$1\nshift\n\"$@\"\ncode=$?\necho \"rank $RANK: $code\" > \"$out\"\nexit $code\n";

// Writes a script into the sandbox, and returns its path.
std::string script(const Sandbox& sandbox, const std::string& text) {
  const std::string path = sandbox.output() + ".wrapper.sh";
  std::ofstream(path) << "#!/bin/sh\n" << text;
  ::chmod(path.c_str(), 0755);
  return path;
}

// Returns what a rank's command has written, and removes the directory that was kept for it.
std::string kept_by(const RankResult& rank) {
  const auto note = rank.notes.find("kept file");
  if (note == rank.notes.end()) return "nothing";
  std::string line;
  {
    std::ifstream file(note->second);
    std::getline(file, line);
  }
  std::filesystem::remove_all(std::filesystem::path(note->second).parent_path().parent_path().parent_path());
  return line;
}

}  // namespace

TEST_CASE("a program's ranks run under their commands, whose files are kept and named", "[exec][wrap]") {
  const Exec exec;
  const std::string command = script(exec.sandbox(), kStays) + " '{work_dir}/seen by {rank} of {world_size}'";
  const Ended ended = exec.shell({"-w", "3", "--wrap-rank", "1=" + command}, "exit 0");
  INFO(ended.out << ended.err);
  CHECK(ended.exit_code == 0);
  CHECK_THAT(ended.err, Contains("work directories: "));
  const TestResult test = exec.result();
  CHECK(test.attempts.at(0).ranks.at(0).notes.empty());
  const RankResult& rank = test.attempts.at(0).ranks.at(1);
  REQUIRE(rank.notes.contains("kept file"));
  CHECK_THAT(rank.notes.at("kept file"), Catch::EndsWith("/seen by 1 of 3"));
  CHECK(wrong_with_reports(exec.sandbox()) == "");
  CHECK(kept_by(rank) == "rank 1: 0");
}

TEST_CASE("a program's failure under a command is its own, and the command that repeats it has the option",
          "[exec][wrap]") {
  const Exec exec;
  const Ended ended =
      exec.shell({"-w", "2", "--wrap", script(exec.sandbox(), "exec \"$@\"\n")}, "[ $RANK = 0 ] || exit 3");
  INFO(ended.err);
  CHECK(ended.exit_code == 1);
  CHECK(exec.result().message == "rank 1 exited with code 3");
  CHECK_THAT(ended.err, Contains("again: ") && Contains(" --wrap ") && Contains("wrapper.sh"));
  CHECK(exec.sandbox().remains().empty());
}

TEST_CASE("the stacks of a hung program are its own, not those of the command that has started it", "[exec][wrap]") {
  const Exec exec;
  const std::string command = script(exec.sandbox(), "\"$@\"\nexit $?\n");
  const Ended ended = exec.run({"-w", "2", "--wrap", command, "--timeout", "1500ms"}, {"/bin/sleep", "100"});
  INFO(ended.err);
  CHECK(ended.exit_code == 1);
  CHECK_THAT(ended.err, Contains("clock_nanosleep") && !Contains("wait4") && !Contains("waitpid"));
  CHECK(exec.sandbox().remains().empty());
}

TEST_CASE("a command that does not exist is an error like a program that does not exist", "[exec][wrap]") {
  const Exec exec;
  const int code = exec.run({"-w", "1"}, {"no_such_program"}).exit_code;
  const Ended of_all = exec.run({"-w", "1", "--wrap", "no_such_tool -q"}, {"/bin/true"});
  CHECK(of_all.exit_code == code);
  CHECK_THAT(of_all.err, Contains("--wrap: ") && Contains("no_such_tool"));
  const Ended of_test = exec.sandbox().run({"run", "--wrap-rank", "0=/no/such/tool", plugin("passes")});
  CHECK(of_test.exit_code == code);
  CHECK_THAT(of_test.err, Contains("--wrap-rank: ") && Contains("/no/such/tool"));
}

TEST_CASE("tests run under a command that becomes their ranks or stays their parent", "[wrap]") {
  const bool stays = GENERATE(true, false);
  const Sandbox sandbox(distrun_program());
  const std::string command = script(sandbox, stays ? "\"$@\"\nexit $?\n" : "exec \"$@\"\n");
  // Two tests look at their parent and their process group, which are the command's if it stays.
  const std::string others = stays ? "!Promises.process & !Passes.traced_by_parent" : "!Nothing.*";
  const Ended ended = sandbox.run(
      {"run", "--output", sandbox.output(), "-w", "2", "--filter", others, "--wrap", command, plugin("passes")});
  INFO(ended.out << ended.err);
  CHECK(ended.exit_code == 0);
  CHECK_THAT(ended.out, Contains("isolation exec"));
  CHECK(sandbox.remains().empty());
}

TEST_CASE("the failure of a test under a command is the test's", "[wrap]") {
  const Sandbox sandbox(distrun_program());
  const std::string command = script(sandbox, "\"$@\"\nexit $?\n");
  const auto message_of = [&](std::vector<std::string> options) {
    options.insert(options.begin(), {"run", "--output", sandbox.output(), "-w", "2", "--filter", "Fails.require"});
    options.push_back(plugin("fails"));
    sandbox.run(options);
    return sandbox.summary().tests.at(0).message;
  };
  const std::string plain = message_of({"--isolation", "exec"});
  CHECK(message_of({"--wrap", command}) == plain);
}

TEST_CASE("with --core on a rank that crashes leaves a core file, which the report names", "[exec][core]") {
  std::string pattern;
  std::ifstream("/proc/sys/kernel/core_pattern") >> pattern;
  const Sandbox sandbox(distrun_program());
  std::filesystem::create_directories(sandbox.output());
  const auto crash = [&](const std::string& core) {
    Command command = sandbox.command({"exec", "--output", sandbox.output(), "-w", "2", "--core", core, "--", "/bin/sh",
                                       "-c", "[ $RANK = 0 ] || kill -SEGV $$"});
    command.directory = sandbox.output();
    const Ended ended = Running(command).wait(scaled(milliseconds(30'000)));
    CHECK(ended.exit_code == 1);
    return ended.err;
  };
  crash("off");
  CHECK_FALSE(sandbox.summary().tests.at(0).attempts.at(0).ranks.at(1).notes.contains("core"));
  const std::string shown = crash("on");
  INFO(shown);
  const AttemptResult attempt = sandbox.summary().tests.at(0).attempts.at(0);
  CHECK_FALSE(attempt.ranks.at(0).notes.contains("core"));
  REQUIRE(attempt.ranks.at(1).notes.contains("core"));
  const std::string core = attempt.ranks.at(1).notes.at("core");
  CHECK_THAT(shown, Contains("core: " + core) && Contains("--core on"));  // the latter to repeat it
  if (pattern.find_first_of("|/") == std::string::npos) CHECK(std::filesystem::exists(core));
}
