// distrun exec on two hosts that are nodes of this machine: programs behave as on one. tests/checks/hosts.sh has hosts
// with networks of their own.
#include <catch2/catch.hpp>

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "exec.hpp"
#include "host_processes.hpp"
#include "support/skip.hpp"

namespace {

using namespace distrun::testing;
using Catch::Contains;
using Lines = std::vector<std::string>;

constexpr milliseconds kSoon{30'000};  // of what comes at once on an idle machine

Lines with_two_hosts(Lines options) {
  options.insert(options.end(), {"--hosts", "a,b", "--launcher", "local"});
  return options;
}

Ended shell_on_hosts(const Exec& exec, const Lines& options, const std::string& script) {
  return exec.shell(with_two_hosts(options), script);
}

Running start_on_hosts(const Exec& exec, const Lines& options, const std::string& script) {
  return exec.start(with_two_hosts(options), {"/bin/sh", "-c", script});
}

void expect_clean_hosts(const Exec& exec) {
  CHECK(eventually(at_latest(kSoon), [&] { return exec.sandbox().remains().empty(); }));
  for (const std::string& what : exec.sandbox().remains()) UNSCOPED_INFO(what);
  CHECK(exec.sandbox().remains().empty());
  exec.sandbox().sweep();
}

// Returns the start of a script that writes what is done to it into a file of its rank.
std::string noting(const Exec& exec) { return "note() { echo $1 >>" + exec.sandbox().output() + "/notes$RANK; }; "; }

bool are_noted(const Exec& exec, const Lines& ranks, const std::string& notes) {
  return eventually(at_latest(kSoon), [&] {
    return std::all_of(ranks.begin(), ranks.end(), [&](const std::string& rank) {
      return read_file(exec.sandbox().output() + "/notes" + rank) == notes;
    });
  });
}

std::string read_to_end(int fd) {
  std::string text;
  char part[1 << 16];
  for (ssize_t got = 0; (got = read(fd, part, sizeof part)) > 0;) text.append(part, static_cast<std::size_t>(got));
  return text;
}

}  // namespace

TEST_CASE("ranks of a program on hosts find their places in their environment, with the user's variables", "[exec]") {
  const Exec exec;
  const Ended ended = shell_on_hosts(
      exec, {"-w", "5", "--no-prefix", "--env", "DEPTH=7"},
      "echo $RANK $DISTRUN_RANK $WORLD_SIZE $LOCAL_RANK $LOCAL_WORLD_SIZE $GROUP_RANK $MASTER_ADDR $DISTRUN_HOSTS "
      "$DISTRUN_HOST_ADDRESS $DEPTH; test $MASTER_PORT -gt 0 && test -d $DISTRUN_TEMP_DIR && "
      "test -n \"$DISTRUN_RUN_ID\" && test \"$PWD\" = \"" +
          exec.sandbox().start_directory() + "\" && test \"$TMPDIR\" = \"" + exec.sandbox().temp() + "\"");
  INFO(ended.out << ended.err);
  CHECK(ended.exit_code == 0);
  CHECK(sorted_lines(ended.out) ==
        Lines{"0 0 5 0 3 0 127.0.0.1 a=0-2;b=3-4 127.0.0.1 7", "1 1 5 1 3 0 127.0.0.1 a=0-2;b=3-4 127.0.0.1 7",
              "2 2 5 2 3 0 127.0.0.1 a=0-2;b=3-4 127.0.0.1 7", "3 3 5 0 2 1 127.0.0.1 a=0-2;b=3-4 127.0.0.1 7",
              "4 4 5 1 2 1 127.0.0.1 a=0-2;b=3-4 127.0.0.1 7"});
  CHECK(exec.result().id == "exec.sh");
  CHECK(exec.result().verdict == "pass");
  CHECK(wrong_with_reports(exec.sandbox()).empty());
  expect_clean_hosts(exec);
}

TEST_CASE("the ranks of all hosts have the same MASTER_PORT", "[exec]") {
  const Exec exec;
  const Ended ended = shell_on_hosts(exec, {"-w", "3", "--no-prefix", "--per-host", "2"},
                                     "test $MASTER_PORT -gt 1023 && echo $MASTER_PORT");
  INFO(ended.out << ended.err);
  CHECK(ended.exit_code == 0);
  const Lines ports = sorted_lines(ended.out);
  REQUIRE(ports.size() == 3);
  CHECK(ports.front() == ports.back());
}

TEST_CASE("output of ranks on hosts comes live, on its stream, behind the name of the rank", "[exec]") {
  const bool tee = GENERATE(false, true);
  const Exec exec;
  Lines options{"-w", "2"};
  if (tee) options.push_back("--tee");
  const Ended ended = shell_on_hosts(exec, options, "echo out $RANK; echo err $RANK >&2; printf 'no end'");
  CHECK(ended.exit_code == 0);
  CHECK(sorted_lines(ended.out) == Lines{"[rank 0] no end", "[rank 0] out 0", "[rank 1] no end", "[rank 1] out 1"});
  CHECK(sorted_lines(ended.err) == Lines{"[rank 0] err 0", "[rank 1] err 1"});
  const std::string summary = read_file(exec.sandbox().output() + "/summary.json");
  CHECK((summary.find("out 1") != std::string::npos) == tee);
}

TEST_CASE("all of a large output arrives from hosts byte for byte, also in the ranks' files here", "[exec]") {
  const Exec exec;
  const std::string logs = exec.sandbox().output() + "/logs";
  const Ended ended = shell_on_hosts(exec, {"-w", "2", "--per-rank-log", logs}, "seq 1 200000; echo $RANK >&2");
  CHECK(ended.exit_code == 0);
  std::string expected;
  for (int i = 1; i <= 200000; ++i) expected += std::to_string(i) + "\n";
  for (const char* rank : {"0", "1"}) {
    CHECK((read_file(logs + "/rank" + rank + ".out") == expected));
    CHECK(read_file(logs + "/rank" + rank + ".err") == rank + std::string("\n"));
  }
  CHECK(count_of(ended.out, "\n") == 400000);
}

TEST_CASE("a reader that does not keep up blocks the ranks of all hosts, and later gets all they wrote", "[exec]") {
  const Exec exec;
  int line[2];
  REQUIRE(pipe2(line, O_CLOEXEC) == 0);
  const std::string done = exec.sandbox().output() + "/done";
  Command command = exec.sandbox().command(with_two_hosts({"exec", "-w", "4", "--output", exec.sandbox().output()}));
  for (const std::string& word : Lines{"--", "/bin/sh", "-c", "seq 1 400000; echo >" + done + "$RANK"}) {
    command.arguments.push_back(word);
  }
  command.standard_output = line[1];
  Running running(command);
  close(line[1]);
  char first = 0;
  REQUIRE(read(line[0], &first, 1) == 1);
  pause_for(milliseconds(1500));  // longer than a host may be silent: the hosts must not be taken for lost
  for (const char* rank : {"0", "1", "2", "3"}) CHECK_FALSE(exists(done + rank));
  const std::string text = first + read_to_end(line[0]);
  close(line[0]);
  const Ended ended = running.wait(at_latest(kSoon));
  INFO(ended.err);
  CHECK(ended.exit_code == 0);
  std::map<std::string, std::string> by_rank;
  std::istringstream lines(text);
  for (std::string each; std::getline(lines, each);) by_rank[each.substr(0, 9)] += each.substr(9) + "\n";
  std::string expected;
  for (int i = 1; i <= 400000; ++i) expected += std::to_string(i) + "\n";
  REQUIRE(by_rank.size() == 4);
  for (const auto& [rank, written] : by_rank) CHECK((written == expected));
  expect_clean_hosts(exec);
}

TEST_CASE("a reader that closes the output ends the programs on all hosts", "[exec]") {
  const Exec exec;
  int line[2];
  REQUIRE(pipe2(line, O_CLOEXEC) == 0);
  Command command = exec.sandbox().command(with_two_hosts({"exec", "-w", "2", "--output", exec.sandbox().output()}));
  for (const char* word : {"--", "/bin/sh", "-c", "while :; do echo a line of rank $RANK; done"}) {
    command.arguments.emplace_back(word);
  }
  command.standard_output = line[1];
  Running running(command);
  close(line[1]);
  char first = 0;
  REQUIRE(read(line[0], &first, 1) == 1);
  close(line[0]);  // like head
  const Ended ended = running.wait(at_latest(kSoon));
  INFO(ended.err);
  CHECK_FALSE(ended.out_of_time);
  CHECK(ended.exit_code == 3);
  CHECK_THAT(ended.err, Contains("the reader of standard output is gone (Broken pipe"));
  expect_clean_hosts(exec);
}

TEST_CASE("a rank's exit code on a host is the failure, named with its host, with its last lines", "[exec]") {
  const Exec exec;
  const Ended ended = shell_on_hosts(
      exec, {"-w", "4"}, "if [ $RANK = 2 ]; then seq 1 60 >&2; echo the reason >&2; exit 3; fi; exec sleep 100");
  INFO(ended.err);
  CHECK(ended.exit_code == 1);
  CHECK(exec.result().verdict == "fail");
  CHECK(exec.result().message == "rank 2 on b exited with code 3");
  CHECK_THAT(ended.err, Contains("--hosts a,b --launcher local"));  // the command that repeats it
  const std::string kept = exec.result().attempts.at(0).ranks.at(2).err;
  CHECK_THAT(kept, Contains("bytes left out here]\n12\n") && Catch::EndsWith("60\nthe reason\n"));
  CHECK(wrong_with_reports(exec.sandbox()).empty());
  expect_clean_hosts(exec);
}

TEST_CASE("a program that hosts do not have, or cannot run, is reported with the name of a host", "[exec]") {
  const Exec exec;
  SECTION("it is missing") {
    const Ended ended = exec.run(with_two_hosts({"-w", "2", "--env", "PATH=/nowhere"}), {"true"});
    INFO(ended.err);
    CHECK(ended.exit_code == kInfraError);
    CHECK_THAT(ended.err, Contains("cannot run true: it is not in PATH") && Contains("(on "));
  }
  SECTION("its interpreter is missing") {
    const std::string script = exec.sandbox().output() + "/program";
    std::ofstream(script) << "#!/no/such/interpreter\n";
    REQUIRE(chmod(script.c_str(), 0700) == 0);
    const Ended ended = exec.run(with_two_hosts({"-w", "2"}), {script});
    INFO(ended.err);
    CHECK(ended.exit_code == kInfraError);
    CHECK_THAT(ended.err, Contains("cannot start " + script) && Contains("interpreter") && Contains("(on "));
  }
  CHECK(exec.result().verdict == "infra-error");
  expect_clean_hosts(exec);
}

TEST_CASE("standard input is passed on to the rank on its host, whole and with its end", "[exec]") {
  const std::string rank = GENERATE("0", "1");
  const Exec exec;
  Command command = exec.sandbox().command({});
  command.arguments = {"-c",      "seq 1 100000 | exec \"$@\"",
                       "sh",      command.program,
                       "exec",    "-w",
                       "2",       "--hosts",
                       "a,b",     "--launcher",
                       "local",   "--no-prefix",
                       "--stdin", rank,
                       "cat"};
  command.program = "/bin/sh";
  const Ended ended = Running(command).wait(at_latest(kSoon));
  INFO(ended.err);
  CHECK(ended.exit_code == 0);
  std::string expected;
  for (int i = 1; i <= 100000; ++i) expected += std::to_string(i) + "\n";
  CHECK((ended.out == expected));
  expect_clean_hosts(exec);
}

TEST_CASE("signals of the user reach the programs on all hosts, and the stop signal ends them", "[exec]") {
  const Exec exec;
  const std::string script = noting(exec) +
                             "trap 'note USR1' USR1; trap 'note USR2' USR2; trap 'note INT; exit 0' INT; note begun; "
                             "while :; do sleep 0.05; done";
  Running running = start_on_hosts(exec, {"-w", "2", "--stop-signal", "SIGINT", "--kill-after", "100s"}, script);
  REQUIRE(are_noted(exec, {"0", "1"}, "begun\n"));
  running.signal(SIGUSR1);
  CHECK(are_noted(exec, {"0", "1"}, "begun\nUSR1\n"));
  running.signal(SIGUSR2);
  CHECK(are_noted(exec, {"0", "1"}, "begun\nUSR1\nUSR2\n"));
  running.signal(SIGTERM);
  CHECK(running.wait(at_latest(kSoon)).exit_code == kInterrupted);
  CHECK(are_noted(exec, {"0", "1"}, "begun\nUSR1\nUSR2\nINT\n"));
  expect_clean_hosts(exec);
}

TEST_CASE("programs on hosts that hang are shown with the stacks of all ranks, and are ended", "[exec]") {
  const Exec exec;
  const Ended ended = shell_on_hosts(exec, {"-w", "4", "--timeout", "2s"}, "exec sleep 100");
  INFO(ended.err);
  CHECK(ended.exit_code == 1);
  CHECK(exec.result().verdict == "timeout");
  CHECK_THAT(ended.err, Contains("nanosleep") && Contains("0-1 on a") && Contains("2-3 on b"));
  expect_clean_hosts(exec);
}

TEST_CASE("what a program leaves on a host is named with the host, and ended", "[exec]") {
  const Exec exec;
  const Ended ended =
      shell_on_hosts(exec, {"-w", "2"}, "if [ $RANK = 1 ]; then setsid sleep 1234 >/dev/null 2>&1 & fi; exit 0");
  INFO(ended.err);
  CHECK(ended.exit_code == 1);
  CHECK(exec.result().verdict == "leak");
  const std::vector<LeakResult> leaks = exec.result().attempts.at(0).leaks;
  REQUIRE(leaks.size() == 1);
  CHECK_THAT(leaks.at(0).what, Contains("sleep 1234") && Catch::EndsWith(" on b"));
  expect_clean_hosts(exec);
}

TEST_CASE("a program that loses a host has not failed: the machine has", "[exec]") {
  const Exec exec;
  Running running = start_on_hosts(exec, {"-w", "2"}, noting(exec) + "note begun; exec sleep 100");
  REQUIRE(are_noted(exec, {"0", "1"}, "begun\n"));
  ::kill(processes_of(exec.sandbox(), running).node_guards.back(), SIGKILL);
  const Ended ended = running.wait(at_latest(kSoon));
  INFO(ended.err);
  CHECK(ended.exit_code == kInfraError);
  CHECK(exec.result().verdict == "infra-error");
  CHECK_THAT(exec.result().message, Contains(" was lost: its node ended; distrun was killed by signal 9"));
  expect_clean_hosts(exec);
}

TEST_CASE("a Python script on hosts is shown with its lines", "[exec]") {
  const Exec exec;
  skip_case_if(exec.run({"-w", "1"}, {"python3", "-c", "pass"}).exit_code != 0, "there is no Python");
  const std::string script = exec.sandbox().output() + "/train.py";
  std::ofstream(script) << "import time\nprint('begun')\ntime.sleep(1000)\n";
  const std::string logs = exec.sandbox().output() + "/logs";
  Running running = exec.start(with_two_hosts({"-w", "4", "--per-rank-log", logs}), {"python3", script});
  const auto have_begun = [&] {
    const Lines ranks{"0", "1", "2", "3"};
    return std::all_of(ranks.begin(), ranks.end(),
                       [&](const std::string& rank) { return read_file(logs + "/rank" + rank + ".out") == "begun\n"; });
  };
  REQUIRE(eventually(at_latest(kSoon), have_begun));
  const Ended stacks = exec.ask({"stacks", exec.sandbox().run_id_in_use()});
  INFO(stacks.out << stacks.err);
  CHECK_THAT(stacks.out,
             Catch::Contains("ranks 0-1 on a, 2-3 on b (main threads") && Catch::Contains("<module>  train.py:3"));
  running.signal(SIGINT);
  CHECK(running.wait(at_latest(kSoon)).exit_code == kInterrupted);
  expect_clean_hosts(exec);
}
