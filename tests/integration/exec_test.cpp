// distrun exec: programs that know nothing of distrun, as ranks.
#include <catch2/catch.hpp>

#include <signal.h>
#include <sys/stat.h>

#include <algorithm>
#include <fstream>
#include <regex>
#include <string>
#include <vector>

#include "exec.hpp"
#include "support/skip.hpp"

namespace {

using namespace distrun::testing;
using Catch::Contains;

// Returns whether the command lines of `count` processes of the run contain `name`.
bool runs(const Exec& exec, const std::string& name, std::size_t count) {
  const auto processes = exec.sandbox().processes();
  return static_cast<std::size_t>(std::count_if(processes.begin(), processes.end(), [&](const ProcessInfo& process) {
           return process.name == name;
         })) == count;
}

}  // namespace

TEST_CASE("a program passes silently if all its ranks exit with 0", "[exec]") {
  const Exec exec;
  const Ended ended = exec.run({"-w", "4"}, {"/bin/true"});
  INFO(ended.err);
  CHECK(ended.exit_code == 0);
  CHECK(ended.out.empty());
  CHECK(ended.err.empty());
  CHECK(exec.result().id == "exec.true");
  CHECK(exec.result().verdict == "pass");
  CHECK(wrong_with_reports(exec.sandbox()).empty());
  CHECK(exec.sandbox().remains().empty());
}

TEST_CASE("a rank's exit code is the failure, reported on standard error", "[exec]") {
  const Exec exec;
  const Ended ended = exec.shell({"-w", "4"}, "if [ $RANK = 2 ]; then exit 3; fi; exec sleep 100");
  CHECK(ended.exit_code == 1);
  CHECK(ended.out.empty());
  CHECK_THAT(ended.err, Contains("rank 2: exited with code 3") && Contains("ended by distrun after rank 2 failed"));
  CHECK_THAT(ended.err, Contains("exec --world-size 4 -- /bin/sh -c"));  // the command that repeats it
  CHECK(exec.result().verdict == "fail");
  CHECK(exec.result().message == "rank 2 exited with code 3");
  CHECK(wrong_with_reports(exec.sandbox()).empty());
  CHECK(exec.sandbox().remains().empty());
}

TEST_CASE("exit codes that mean a skip for tests are failures of programs", "[exec]") {
  const Exec exec;
  CHECK(exec.shell({"-w", "2"}, "exit 77").exit_code == 1);
  CHECK(exec.result().verdict == "fail");
  CHECK(exec.run({"-w", "2"}, {"/bin/false"}).exit_code == 1);
}

TEST_CASE("a program that is killed by a signal has crashed", "[exec]") {
  const Exec exec;
  const Ended ended = exec.shell({"-w", "3"}, "if [ $RANK = 1 ]; then kill -SEGV $$; fi; exec sleep 100");
  CHECK(ended.exit_code == 1);
  CHECK(exec.result().verdict == "crash");
  CHECK_THAT(exec.result().message, Contains("rank 1 was killed by signal 11 (SIGSEGV)"));
}

TEST_CASE("output is shown with the rank's name, each stream separately, and kept only on request", "[exec]") {
  const bool tee = GENERATE(false, true);
  const Exec exec;
  std::vector<std::string> options{"-w", "2"};
  if (tee) options.push_back("--tee");
  const Ended ended = exec.shell(options, "echo out $RANK; echo err $RANK >&2; printf 'no end'");
  CHECK(ended.exit_code == 0);
  CHECK(sorted_lines(ended.out) ==
        std::vector<std::string>{"[rank 0] no end", "[rank 0] out 0", "[rank 1] no end", "[rank 1] out 1"});
  CHECK(sorted_lines(ended.err) == std::vector<std::string>{"[rank 0] err 0", "[rank 1] err 1"});
  const std::string summary = read_file(exec.sandbox().output() + "/summary.json");
  CHECK((summary.find("out 1") != std::string::npos) == tee);
  CHECK(exec.shell({"-w", "1", "--no-prefix"}, "echo bare").out == "bare\n");
}

TEST_CASE("all of a large output arrives, also in the ranks' files", "[exec]") {
  const Exec exec;
  const std::string logs = exec.sandbox().output() + "/logs";
  const Ended ended = exec.shell({"-w", "2", "--per-rank-log", logs}, "seq 1 200000; echo $RANK >&2");
  CHECK(ended.exit_code == 0);
  std::string expected;
  for (int i = 1; i <= 200000; ++i) expected += std::to_string(i) + "\n";
  CHECK((read_file(logs + "/rank1.out") == expected));
  CHECK(read_file(logs + "/rank1.err") == "1\n");
  CHECK(std::count(ended.out.begin(), ended.out.end(), '\n') == 400000);
}

TEST_CASE("each rank finds its rank in its environment, together with the user's variables", "[exec]") {
  const Exec exec;
  const std::string script =
      "echo $RANK $LOCAL_RANK $WORLD_SIZE $LOCAL_WORLD_SIZE $GROUP_RANK $MASTER_ADDR $DEPTH; "
      "test $MASTER_PORT -gt 0 && test -n \"$DISTRUN_RUN_ID\" && test -d $DISTRUN_TEMP_DIR && "
      "test -n \"$PATH\" && test $DISTRUN_RANK = $RANK";
  const Ended ended = exec.shell({"-w", "2", "--env", "DEPTH=7"}, script);
  CHECK(ended.exit_code == 0);
  CHECK(sorted_lines(ended.out) ==
        std::vector<std::string>{"[rank 0] 0 0 2 2 0 127.0.0.1 7", "[rank 1] 1 1 2 2 0 127.0.0.1 7"});
}

TEST_CASE("a program that hangs is shown with its stacks when it times out, and ended", "[exec]") {
  const Exec exec;
  const Ended ended = exec.run({"-w", "2", "--timeout", "2s"}, {"sleep", "100"});
  CHECK(ended.exit_code == 1);
  CHECK(exec.result().verdict == "timeout");
  CHECK_THAT(exec.result().message, Contains("timed out after 2.0 s in the test body"));
  CHECK_THAT(ended.err, Contains("ranks 0-1 (main threads, waiting in") && Contains("nanosleep"));
  CHECK(exec.sandbox().remains().empty());
}

TEST_CASE("what a hanging program has started is shown with its stacks, as a child of its rank", "[exec]") {
  const Exec exec;
  const Ended ended = exec.shell({"-w", "2", "--timeout", "2s"}, "sleep 1000; true");
  CHECK(exec.result().verdict == "timeout");
  CHECK_THAT(ended.err, Contains("2 children of ranks 0-1 (main threads, waiting in"));
  CHECK(exec.sandbox().remains().empty());
}

TEST_CASE("a run of programs can be inspected from outside", "[exec]") {
  const Exec exec;
  Running running = exec.start({"-w", "2"}, {"sleep", "100"});
  REQUIRE(eventually(scaled(milliseconds(10'000)), [&] { return runs(exec, "sleep", 2); }));
  const std::string id = exec.sandbox().run_id_in_use();
  const Ended ps = exec.ask({"ps", id});
  CHECK_THAT(ps.out, Contains("exec.sleep") && Contains("body"));
  const Ended stacks = exec.ask({"stacks", id});
  CHECK_THAT(stacks.out, Contains("ranks 0-1") && Contains("nanosleep"));
  running.signal(SIGINT);
  CHECK(running.wait(scaled(milliseconds(5'000))).exit_code == 130);
  CHECK(exec.sandbox().remains().empty());
}

TEST_CASE("a process that a program leaves behind is named and ended", "[exec]") {
  const Exec exec;
  const Ended ended = exec.shell({"-w", "2"}, "if [ $RANK = 1 ]; then setsid sleep 1234 >/dev/null 2>&1 & fi; exit 0");
  CHECK(ended.exit_code == 1);
  CHECK(exec.result().verdict == "leak");
  CHECK_THAT(ended.err, Contains("sleep 1234"));
  CHECK(exec.sandbox().remains().empty());
}

TEST_CASE("files that a program writes are its results and not a leak", "[exec]") {
  const Exec exec;
  const Ended ended = exec.shell({"-w", "2"}, "echo done > result-$RANK");
  CHECK(ended.exit_code == 0);
  const std::string result = exec.sandbox().start_directory() + "/result-1";
  CHECK(read_file(result) == "done\n");
  exec.sandbox().sweep();
}

TEST_CASE("TMPDIR of a program is that of its user", "[exec]") {
  const Exec exec;
  const Ended ended = exec.shell({"-w", "1", "--tee", "--no-prefix"}, "printf %s \"$TMPDIR\"");
  CHECK(ended.exit_code == 0);
  CHECK(exec.result().attempts.at(0).ranks.at(0).out == exec.sandbox().temp());
}

TEST_CASE("a directory of an attempt that cannot be removed is reported", "[exec]") {
  const Exec exec;
  Command command =
      exec.sandbox().command({"exec", "-w", "1", "--output", exec.sandbox().output(), "--", "/bin/sh", "-c",
                              "mkdir \"$DISTRUN_TEMP_DIR/m\" && mount -t tmpfs none \"$DISTRUN_TEMP_DIR/m\""});
  // In a separate mount namespace, so that nothing stays mounted.
  const std::vector<std::string> apart{"--user", "--map-root-user", "--mount", command.program};
  command.program = "/usr/bin/unshare";
  command.arguments.insert(command.arguments.begin(), apart.begin(), apart.end());
  const Ended ended = Running(command).wait(scaled(milliseconds(10'000)));
  INFO(ended.out << ended.err);
  skip_case_if(ended.err.find("unshare failed") != std::string::npos, "this machine allows no user namespaces");
  CHECK(ended.exit_code == 1);
  const auto leaks = exec.result().attempts.at(0).leaks;
  REQUIRE(leaks.size() == 1);
  CHECK_FALSE(leaks[0].removed);
  CHECK_THAT(leaks[0].what, Contains("/m: a file system is mounted there"));
  CHECK_THAT(ended.err, Contains("distrun: could not remove ") && Contains("/m: a file system is mounted there"));
  exec.sandbox().sweep();
}

TEST_CASE("a program that cannot be run is refused before anything starts", "[exec]") {
  const Exec exec;
  const std::string file = exec.sandbox().output() + "/program";
  const auto refused = [&](const std::string& program, const std::string& part) {
    const Ended ended = exec.sandbox().run({"exec", "-w", "2", "--", program});
    INFO(program << ": " << ended.err);
    CHECK(ended.exit_code == 3);
    CHECK_THAT(ended.err, Contains("cannot") && Contains(program) && Contains(part));
  };
  refused("no-such-program", "PATH");
  refused("./no-such-program", "No such file");
  refused("/tmp", "directory");
  std::ofstream(file) << "neither script nor binary\n";
  chmod(file.c_str(), 0600);
  refused(file, "not executable");
  chmod(file.c_str(), 0700);
  refused(file, "#!");
  std::ofstream(file) << "#!/no/such/interpreter\n";
  refused(file, "interpreter");
  CHECK(exec.sandbox().remains().empty());
}

TEST_CASE("an invalid command line of exec is refused", "[exec]") {
  const Exec exec;
  const auto refused = [&](std::vector<std::string> arguments, const std::string& part) {
    arguments.insert(arguments.begin(), "exec");
    const Ended ended = exec.sandbox().run(arguments);
    CHECK(ended.exit_code == 2);
    CHECK_THAT(ended.err, Contains(part));
  };
  refused({}, "program");
  refused({"-w", "2", "--"}, "program");
  refused({"--world-sise", "2", "--", "/bin/true"}, "--world-sise");
  refused({"-w", "0", "--", "/bin/true"}, "--world-size");
  refused({"-w", "2", "--stdin", "2", "--", "/bin/true"}, "--stdin");
  refused({"--timeout", "soon", "--", "/bin/true"}, "--timeout");
  refused({"--per-host", "2", "--", "/bin/true"}, "--per-host needs --hosts");
  refused({"--hosts", "a:1,b:1", "-w", "3", "--", "/bin/true"}, "a world of 3 ranks does not fit on 2 hosts");
}

TEST_CASE("options after the program belong to the program", "[exec]") {
  const Exec exec;
  const Ended ended = exec.sandbox().run({"exec", "-w", "1", "echo", "-w", "7", "--", "--timeout"});
  CHECK(ended.exit_code == 0);
  CHECK(ended.out == "[rank 0] -w 7 -- --timeout\n");
}

TEST_CASE("standard input is empty, except for the rank that gets it", "[exec]") {
  const Exec exec;
  Command command = exec.sandbox().command({});
  command.arguments = {"-c", "echo hello | exec \"$@\"", "sh", command.program, "exec", "-w", "2", "--stdin", "1",
                       "cat"};
  command.program = "/bin/sh";
  const Ended ended = Running(command).wait(scaled(milliseconds(10'000)));
  CHECK(ended.exit_code == 0);
  CHECK(ended.out == "[rank 1] hello\n");
}

TEST_CASE("ranks that exit within their grace are not killed", "[exec]") {
  const Exec exec;
  const Ended ended =
      exec.shell({"-w", "2", "--grace", "20s"}, "if [ $RANK = 1 ]; then exit 5; fi; sleep 1; echo ended alone");
  CHECK(ended.exit_code == 1);
  CHECK(ended.out == "[rank 0] ended alone\n");
  CHECK_THAT(ended.err, Contains("--grace 20 -- /bin/sh"));  // the command that repeats it
  CHECK(ended.duration < scaled(milliseconds(15'000)));
}

TEST_CASE("64 ranks of a program", "[exec]") {
  const Exec exec;
  const Ended ended = exec.shell({"-w", "64"}, "echo $RANK");
  CHECK(ended.exit_code == 0);
  CHECK(sorted_lines(ended.out).size() == 64);
}

TEST_CASE("nothing is left when distrun is killed while programs run", "[exec]") {
  const bool coordinator = GENERATE(false, true);
  const Exec exec;
  Running running = exec.start({"-w", "3"}, {"/bin/sh", "-c", "sleep 1234 & setsid sleep 1234 & wait"});
  REQUIRE(eventually(scaled(milliseconds(10'000)), [&] { return runs(exec, "sleep", 6); }));
  if (coordinator) {
    kill(children_of(running.pid()).at(0), SIGKILL);
  } else {
    running.signal(SIGKILL);
  }
  CHECK(eventually(scaled(milliseconds(3'000)), [&] { return exec.sandbox().remains().empty(); }));
  running.wait(milliseconds(0));
  exec.sandbox().sweep();
}

TEST_CASE("a Python script is shown with its lines", "[exec]") {
  const Exec exec;
  skip_case_if(exec.run({"-w", "1"}, {"python3", "-c", "pass"}).exit_code != 0, "there is no Python");
  const std::string script = exec.sandbox().output() + "/train.py";
  std::ofstream(script) << "import time\nprint('begun')\ntime.sleep(1000)\n";
  const std::string logs = exec.sandbox().output() + "/logs";
  Running running = exec.start({"-w", "2", "--per-rank-log", logs}, {"python3", script});
  const auto begun = [&](const char* log) { return read_file(logs + log) == "begun\n"; };  // output is not held back
  REQUIRE(eventually(scaled(milliseconds(20'000)), [&] { return begun("/rank0.out") && begun("/rank1.out"); }));
  const Ended stacks = exec.ask({"stacks", exec.sandbox().run_id_in_use()});
  CHECK_THAT(stacks.out, Contains("ranks 0-1 (main threads") && Contains("<module>  train.py:3"));
  running.signal(SIGINT);
  CHECK(running.wait(scaled(milliseconds(5'000))).exit_code == 130);
  CHECK(exec.sandbox().remains().empty());
}

TEST_CASE("the asyncio tasks that Python ranks wait for are shown with their coroutines, merged over ranks", "[exec]") {
  const Exec exec;
  const char* is_311 = "import sys; sys.exit(sys.version_info[:2] != (3, 11))";
  skip_case_if(exec.run({"-w", "1"}, {"python3", "-c", is_311}).exit_code != 0, "there is no Python 3.11");
  const std::string script = exec.sandbox().output() + "/train.py";
  std::ofstream(script) << "import asyncio\n"
                           "async def fetch(queue):\n"
                           "    return await queue.get()\n"
                           "async def consume(queue):\n"
                           "    await fetch(queue)\n"
                           "async def produce(done):\n"
                           "    await done.wait()\n"
                           "async def main():\n"
                           "    await asyncio.gather(consume(asyncio.Queue()), produce(asyncio.Event()))\n"
                           "asyncio.run(main())\n";
  const Ended ended = exec.run({"-w", "2", "--timeout", "2s"}, {"python3", script});
  CHECK(ended.exit_code == 1);
  CHECK_THAT(ended.err, Contains("ranks 0-1 (2 asyncio tasks \"Task-2\", ") && Contains("fetch  train.py:3") &&
                            Contains("consume  train.py:5"));
  CHECK_THAT(ended.err, Contains("ranks 0-1 (2 asyncio tasks \"Task-3\", ") && Contains("produce  train.py:7"));
}
