// Runs through the daemon: same results as without it, queueing, inspection and cancellation.
#include <catch2/catch.hpp>

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <regex>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "compare.hpp"
#include "daemon.hpp"
#include "support/terminal_session.hpp"

namespace {

using namespace distrun::testing;
using Catch::Contains;
using Texts = std::vector<std::string>;

constexpr milliseconds kLong{30'000};

// Removes everything that differs between any two runs.
std::string without_times(const std::string& text) {
  static const std::regex times("[0-9]+(\\.[0-9]+)? (us|ms|s|min)\\b");
  static const std::regex run("run [0-9a-f]{12}");
  static const std::regex spaces(" +");
  const std::string own = without_appeared(text);
  return std::regex_replace(std::regex_replace(std::regex_replace(own, times, "TIME"), run, "run ID"), spaces, " ");
}

// A client with hanging ranks; the constructor waits until they hang.
struct Hanging {
  explicit Hanging(const Daemon& daemon)
      : sandbox(distrun_program()),
        running(daemon.start(sandbox, {"run", "--daemon", "--output", sandbox.output(), "--timeout", "100s", "--filter",
                                       "Hangs.one_sleeps", plugin("hangs")})) {
    // client, guard, coordinator, zygote (not with the thread sanitizer), four ranks
    const std::size_t all = DISTRUN_SANITIZED_THREADS ? 7 : 8;
    REQUIRE(eventually(scaled(milliseconds(10'000)), [&] { return sandbox.processes().size() >= all; }));
    pause_for(milliseconds(100));
  }
  bool leaves_nothing() const {
    return eventually(scaled(milliseconds(3000)), [&] { return sandbox.remains().empty(); });
  }

  Sandbox sandbox;
  Running running;
};

Texts trivial(const Sandbox& sandbox, const std::string& test = "Passes.trivial");

// A run that waits in the daemon behind another one.
struct Waiting {
  Waiting() : second(daemon.start(sandbox, trivial(sandbox))) {
    REQUIRE(eventually(scaled(kLong), [&] { return daemon.shows("1 waiting of 100"); }));
  }
  // Not `all`, which would cancel other runs of this user.
  void cancel_first() const {
    const Ended cancel = daemon.start(other, {"cancel", first.sandbox.run_id_in_use()}).wait(scaled(kLong));
    CHECK(cancel.exit_code == 0);
  }

  Daemon daemon{daemon_program()};
  Hanging first{daemon};
  Sandbox sandbox{distrun_program()};
  Running second;
  Sandbox other{distrun_program()};  // the observer
};

Texts trivial(const Sandbox& sandbox, const std::string& test) {
  return {"run", "--daemon", "--output", sandbox.output(), "--filter", test, plugin("passes")};
}

void expect_served(const Daemon& daemon) {
  const Sandbox sandbox(distrun_program());
  const Ended ended = daemon.start(sandbox, trivial(sandbox)).wait(scaled(kLong));
  INFO(ended.out << ended.err << daemon.status());
  CHECK(ended.exit_code == 0);
  CHECK(sandbox.remains() == Texts{});
}

}  // namespace

TEST_CASE("a run through the daemon has the same output and exit code as without", "[daemon]") {
  const Daemon daemon(daemon_program());
  const Texts arguments =
      GENERATE(values<Texts>({{"run", "--seed", "7", "--filter", "Passes.*", plugin("passes")},
                              {"run", "--seed", "7", "--filter", "Fails.require", "--color", "always", plugin("fails")},
                              {"run", "--seed", "7", "--filter", "Nothing.at_all", plugin("passes")},
                              {"run", "--seed", "7", plugin("skips"), "--filter", "Skips.all_by_table"},
                              {"--seed", "7", "/nonexistent/plugin.so"},
                              {"run", "--world-size", "none", plugin("passes")},
                              {"run", "--help"}}));
  const Sandbox plain(distrun_program());
  const Ended expected = plain.run(arguments, kLong);
  const Sandbox sandbox(distrun_program());
  Texts through = arguments;
  through.insert(through.begin() + (arguments.front() == "run" ? 1 : 0), "--daemon");
  const Ended ended = daemon.start(sandbox, through).wait(scaled(kLong));
  CHECK(ended.exit_code == expected.exit_code);
  CHECK(without_times(ended.out) == without_times(expected.out));
  CHECK(without_times(ended.err) == without_times(expected.err));
  CHECK(sandbox.remains() == Texts{});
}

TEST_CASE("a run through the daemon has the client's directory, environment and umask", "[daemon]") {
  const Daemon daemon(daemon_program());
  const Sandbox sandbox(distrun_program());
  Command command =
      daemon.command(sandbox, {"run", "--json", "here.json", "--filter", "Passes.trivial", plugin("passes")});
  command.environment.push_back("DISTRUN_DAEMON=1");
  const mode_t before = ::umask(077);
  const Ended ended = Running(command).wait(scaled(kLong));
  ::umask(before);
  INFO(ended.out << ended.err);
  CHECK(ended.exit_code == 0);
  struct stat status {};
  REQUIRE(::stat((sandbox.start_directory() + "/here.json").c_str(), &status) == 0);
  CHECK((status.st_mode & 0777) == 0600);
  CHECK(read_summary(sandbox.start_directory() + "/here.json").exit_code == 0);
  CHECK(daemon.shows(" 1 done"));
}

TEST_CASE("a run with --daemon but without a daemon says how to start one", "[daemon]") {
  const Sandbox sandbox(distrun_program());
  Command command = sandbox.command(trivial(sandbox));
  command.environment.push_back("DISTRUN_DAEMON_SOCKET=" + sandbox.output() + "/none.sock");
  const Ended ended = Running(command).wait(scaled(kLong));
  CHECK(ended.exit_code == 3);
  CHECK_THAT(ended.err, Contains("no daemon listens at") && Contains("start one with `distrund &`"));
}

TEST_CASE("a debugger cannot be used in the daemon", "[daemon]") {
  const Sandbox sandbox(distrun_program());
  const Ended ended = sandbox.run({"run", "--daemon", "--debug", "0", plugin("passes")});
  CHECK(ended.exit_code == 2);
  CHECK_THAT(ended.err, Contains("leave --daemon"));
}

TEST_CASE("runs that wait are listed, and cancelled without having started", "[daemon]") {
  Waiting run;
  const Ended ps = run.daemon.start(run.other, {"ps"}).wait(scaled(kLong));
  CHECK_THAT(ps.out, Contains("Hangs.one_sleeps") && Contains("has been queued in the daemon") && Contains("1 ahead") &&
                         Contains("(submitted in " + run.sandbox.start_directory() + ")"));
  const std::size_t line = ps.out.find(" has been queued in the daemon");
  REQUIRE(line != std::string::npos);
  const std::string id = ps.out.substr(line - 12, 12);
  const Ended cancel = run.daemon.start(run.other, {"cancel", id.substr(0, 8)}).wait(scaled(kLong));
  CHECK(cancel.exit_code == 0);
  CHECK_THAT(cancel.out, Contains(id));
  const Ended ended = run.second.wait(scaled(kLong));
  CHECK(ended.exit_code == 130);
  CHECK(ended.out.empty());
  run.cancel_first();
  CHECK(run.first.running.wait(scaled(kLong)).exit_code == 130);
  CHECK(run.first.sandbox.summary().interrupted);
  CHECK(run.first.leaves_nothing());
}

TEST_CASE("cancel asks on a terminal before it ends a waiting run of another directory", "[daemon]") {
  Waiting run;
  const Ended ps = run.daemon.start(run.other, {"ps", "--json"}).wait(scaled(kLong));
  const nlohmann::json shown = nlohmann::json::parse(ps.out)["waiting"][0];
  CHECK(shown["directory"] == run.sandbox.start_directory());
  Command command = run.daemon.command(run.other, {"cancel", shown["run_id"]});
  command.directory = run.other.start_directory();
  std::string question;
  CHECK(answered(command, "n\n", question).exit_code == 0);
  CHECK_THAT(question, Contains("was started in another directory") &&
                           Contains("(submitted in " + run.sandbox.start_directory() + ")"));
  run.cancel_first();
  CHECK(run.second.wait(scaled(kLong)).exit_code == 0);
}

TEST_CASE("a run without the daemon is cancelled too", "[daemon]") {
  const Sandbox sandbox(distrun_program());
  Running running = sandbox.start(
      {"run", "--output", sandbox.output(), "--timeout", "100s", "--filter", "Hangs.one_sleeps", plugin("hangs")});
  std::string id;
  const auto has_ranks = [&] {
    id = sandbox.run_id_in_use();
    return !id.empty() && sandbox.processes().size() >= 6;  // guard, coordinator, four ranks
  };
  REQUIRE(eventually(scaled(milliseconds(10'000)), has_ranks));
  const Ended cancel = Sandbox(distrun_program()).run({"cancel", id});
  CHECK(cancel.exit_code == 0);
  CHECK_THAT(cancel.out, Catch::StartsWith("run " + id + " is ending: ") && Contains("--filter Hangs.one_sleeps") &&
                             Contains("ago in " + sandbox.start_directory()));
  CHECK(running.wait(scaled(kLong)).exit_code == 130);
  CHECK(sandbox.summary().interrupted);
  CHECK(sandbox.remains() == Texts{});
  const Ended again = Sandbox(distrun_program()).run({"cancel", id});
  CHECK(again.exit_code == 2);
}

TEST_CASE("a signal that ends a client's terminal session ends its run", "[daemon]") {
  const int number = GENERATE(SIGINT, SIGTERM, SIGHUP);
  INFO("signal " << number);
  const Daemon daemon(daemon_program());
  Hanging client(daemon);
  client.running.signal(number);
  const Ended ended = client.running.wait(scaled(milliseconds(5000)));
  CHECK(ended.exit_code == 130);
  CHECK(client.sandbox.summary().interrupted);
  CHECK(client.leaves_nothing());
  expect_served(daemon);
}

TEST_CASE("a client that requests stacks gets them on its own output", "[daemon]") {
  const Daemon daemon(daemon_program());
  Hanging client(daemon);
  client.running.signal(SIGQUIT);
  const std::string output = client.sandbox.output() + "/../console.out";
  const auto has_stacks = [&] { return read_file(output).find("main thread") != std::string::npos; };
  CHECK(eventually(scaled(milliseconds(10'000)), has_stacks));
  client.running.signal(SIGINT);
  CHECK(client.running.wait(scaled(kLong)).exit_code == 130);
}

TEST_CASE("a run that its user has stopped makes room, and continues later", "[daemon]") {
  const Daemon daemon(daemon_program());
  Hanging client(daemon);
  const pid_t pid = client.running.pid();
  client.running.signal(SIGTSTP);
  const auto state_of = [](pid_t process) {
    for (const ProcessInfo& info : living_processes()) {
      if (info.pid == process) return info.state;
    }
    return '?';
  };
  REQUIRE(eventually(scaled(kLong), [&] { return state_of(pid) == 'T' && daemon.shows("stopped"); }));
  expect_served(daemon);
  client.running.signal(SIGCONT);
  CHECK(eventually(scaled(kLong), [&] { return !daemon.shows("stopped"); }));
  client.running.signal(SIGINT);
  CHECK(client.running.wait(scaled(kLong)).exit_code == 130);
  CHECK(client.leaves_nothing());
}

TEST_CASE("a client that is killed ends its run", "[daemon]") {
  const Daemon daemon(daemon_program());
  Hanging running(daemon);
  const Sandbox sandbox(distrun_program());
  Running waiting = daemon.start(sandbox, trivial(sandbox));
  REQUIRE(eventually(scaled(kLong), [&] { return daemon.shows("1 waiting"); }));
  waiting.signal(SIGKILL);
  REQUIRE(eventually(scaled(kLong), [&] { return daemon.shows("0 waiting"); }));
  running.running.signal(SIGKILL);
  CHECK(running.leaves_nothing());
  expect_served(daemon);
}

TEST_CASE("a finished run with unread output does not block others", "[daemon]") {
  const Daemon daemon(daemon_program());
  int line[2];
  REQUIRE(::pipe2(line, O_CLOEXEC) == 0);
  REQUIRE(::fcntl(line[1], F_SETPIPE_SZ, 4096) == 4096);
  const Sandbox sandbox(distrun_program());
  Command command = daemon.command(sandbox, {"run", "--daemon", "--filter", "Fails.*", plugin("fails")});
  command.standard_output = line[1];
  Running deaf(command);
  ::close(line[1]);
  REQUIRE(eventually(scaled(milliseconds(60'000)), [&] { return daemon.shows("prints"); }));
  expect_served(daemon);
  CHECK(daemon.shows("prints"));
  const Ended ps = daemon.start(Sandbox(distrun_program()), {"ps"}).wait(scaled(kLong));
  CHECK_THAT(ps.out, Contains("has ended, and waits for the reader of its output"));
  ::close(line[0]);  // like head
  CHECK(deaf.wait(scaled(kLong)).exit_code == 1);
  CHECK(sandbox.remains() == Texts{});
}

TEST_CASE("clients that do not read delay only themselves", "[daemon]") {
  const Daemon daemon(daemon_program(), {"--parallel", "2"});
  int line[2];
  REQUIRE(::pipe2(line, O_CLOEXEC) == 0);
  const Sandbox sandbox(distrun_program());
  Command command =
      daemon.command(sandbox, {"run", "--daemon", "--repeat", "2000", "--filter", "Fails.require", plugin("fails")});
  command.standard_output = line[1];
  Running deaf(command);
  ::close(line[1]);
  REQUIRE(eventually(scaled(kLong), [&] { return sandbox.processes().size() >= 4; }));
  Hanging stalled(daemon);
  stalled.running.signal(SIGSTOP);  // it stops reading from the daemon
  const Sandbox other(distrun_program());
  Running waiting = daemon.start(other, trivial(other));
  REQUIRE(eventually(scaled(kLong), [&] { return daemon.shows("1 waiting"); }));
  waiting.signal(SIGSTOP);
  CHECK(daemon.shows("2 running"));
  deaf.signal(SIGKILL);
  ::close(line[0]);
  waiting.signal(SIGCONT);
  CHECK(waiting.wait(scaled(kLong)).exit_code == 0);
  expect_served(daemon);
  stalled.running.signal(SIGKILL);
  CHECK(stalled.leaves_nothing());
  CHECK(eventually(scaled(milliseconds(5000)), [&] { return sandbox.remains().empty(); }));
}

TEST_CASE("a daemon that is stopped ends its runs gracefully and leaves nothing", "[daemon]") {
  Daemon daemon(daemon_program());
  Hanging running(daemon);
  const Sandbox sandbox(distrun_program());
  Running waiting = daemon.start(sandbox, trivial(sandbox));
  REQUIRE(eventually(scaled(kLong), [&] { return daemon.shows("1 waiting"); }));
  const Ended ended = daemon.stop();
  CHECK(ended.exit_code == 0);
  CHECK_FALSE(exists(daemon.socket()));
  CHECK_FALSE(exists(daemon.socket() + ".lock"));
  for (Running* client : {&running.running, &waiting}) {
    const Ended told = client->wait(scaled(kLong));
    CHECK(told.exit_code == 130);
    CHECK_THAT(told.err, Contains("the daemon was stopped"));
  }
  CHECK(running.sandbox.summary().interrupted);
  CHECK(running.leaves_nothing());
  CHECK(sandbox.remains() == Texts{});
}

TEST_CASE("a daemon without work exits after its idle time", "[daemon]") {
  Daemon daemon(daemon_program(), {"--idle-exit", "300ms"});
  const Ended ended = daemon.wait(scaled(kLong));
  CHECK(ended.exit_code == 0);
  CHECK_FALSE(exists(daemon.socket()));
}

TEST_CASE("distrund refuses invalid options", "[daemon]") {
  const Sandbox sandbox(DISTRUND_BIN);
  for (const Texts& arguments : {Texts{"--parallel", "0"}, Texts{"--queue", "x"}, Texts{"--socket", "relative"},
                                 Texts{"--idle-exit", "soon"}, Texts{"--nothing"}, Texts{"plugin.so"}}) {
    INFO(arguments.front());
    const Ended ended = sandbox.run(arguments);
    CHECK(ended.exit_code == 2);
    CHECK_THAT(ended.err, Contains("Try: distrund --help"));
  }
  CHECK(sandbox.run({"--status", "--socket", sandbox.output() + "/none"}).exit_code == 3);
  const Ended help = sandbox.run({"--help"});
  CHECK(help.exit_code == 0);
  CHECK_THAT(help.out, Contains("--parallel") && Contains("distrun --daemon"));
}
