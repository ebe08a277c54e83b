#include <catch2/catch.hpp>

#include <sys/stat.h>

#include <cstdlib>

#include <distrun/runner/nodes/launcher.hpp>

#include "../support/loop.hpp"
#include "support/error_of.hpp"
#include "support/process.hpp"
#include "support/sandbox.hpp"
#include "support/scratch.hpp"

namespace distrun::nodes {
namespace {

using namespace std::chrono_literals;
using testing::error_of;
using testing::read_file;
using testing::run_until;

// A launcher with shell scripts as engines.
struct LaunchStage {
  LaunchStage() { settings.node = {"/opt/distrun", {"10.0.0.1:4711"}}; }
  ~LaunchStage() { ::setenv("PATH", path.c_str(), 1); }

  // Writes a program `name` that is found before others of that name.
  void program(const std::string& name, const std::string& script) {
    const std::string file_path = folder.path() + "/" + name;
    testing::write_file(file_path, "#!/bin/sh\n" + script);
    ::chmod(file_path.c_str(), 0755);
    ::setenv("PATH", (folder.path() + ":/usr/bin:/bin").c_str(), 1);
  }
  // Starts `script` for each host, with the folder as its first word behind `$0`.
  Launcher& launch(std::vector<std::string> hosts, const std::string& script) {
    settings.engine = {EngineKind::Command, "cd " + folder.path() + "; " + script + " # {host} {node}"};
    return launch(std::move(hosts));
  }
  Launcher& launch(std::vector<std::string> hosts) {
    settings.hosts = std::move(hosts);
    settings.secret = "open sesame";
    Launcher::Handlers handlers;
    handlers.on_failed = [this](const auto& more) { failures.insert(failures.end(), more.begin(), more.end()); };
    handlers.on_ended = [this] { is_over = true; };
    handlers.on_engine_ended = on_engine_ended;
    launcher = std::make_unique<Launcher>(loop, settings, handlers);
    return *launcher;
  }
  bool until(const std::function<bool()>& done) { return run_until(loop, done); }
  bool has_file(const std::string& name) const { return testing::exists(folder.path() + "/" + name); }
  std::string file(const std::string& name) const { return read_file(folder.path() + "/" + name); }

  const std::string path = std::getenv("PATH");
  testing::Scratch folder;
  io::Loop loop;
  Launcher::Settings settings;
  std::vector<Launcher::Failure> failures;
  bool is_over = false;
  std::function<void()> on_engine_ended;
  std::unique_ptr<Launcher> launcher;
};

TEST_CASE("ssh is started for each host, and the secret comes by its standard input alone") {
  LaunchStage stage;
  stage.program("ssh", "cd " + stage.folder.path() +
                           "; read secret; echo \"$secret\" > $3.secret; echo \"$@\" > $3.words; env > $3.env\n"
                           "mv $3.env $3.ready; exec sleep 100\n");
  stage.settings.engine = {EngineKind::Ssh, ""};
  stage.launch({"node01", "node02"});
  REQUIRE(stage.until([&] { return stage.has_file("node01.ready") && stage.has_file("node02.ready"); }));
  CHECK(stage.file("node02.secret") == "open sesame\n");
  CHECK(stage.file("node02.words") ==
        "-o BatchMode=yes node02 exec /opt/distrun node --join 10.0.0.1:4711 --host node02\n");
  CHECK(stage.file("node02.ready").find("sesame") == std::string::npos);
  CHECK(stage.launcher->pids().size() == 2);
  CHECK(stage.failures.empty());
}

TEST_CASE("a host fails at once if its command ends before its node has joined, with what the command said") {
  LaunchStage stage;
  stage.program("ssh", "echo 'ssh: connect to host node02 port 22: No route to host' >&2; exit 255\n");
  stage.settings.engine = {EngineKind::Ssh, ""};
  stage.launch({"node02"});
  REQUIRE(stage.until([&] { return !stage.failures.empty(); }));
  CHECK(stage.failures[0].host == "node02");
  CHECK(
      stage.failures[0].why ==
      "node02: ssh exited with code 255 before its node joined: ssh: connect to host node02 port 22: No route to host");
}

TEST_CASE("a host that does not join in time fails with the last words of its command, but not one that has joined") {
  LaunchStage stage;
  stage.settings.join_timeout = testing::at_latest(500ms);
  Launcher& launcher = stage.launch({"a", "b"}, "echo warning one; echo warning two >&2; exec sleep 100");
  launcher.joined("a");
  REQUIRE(stage.until([&] { return !stage.failures.empty(); }));
  REQUIRE(stage.failures.size() == 1);
  CHECK(stage.failures[0].why ==
        "b did not join within " + base::human(stage.settings.join_timeout) + ":\n  | warning one\n  | warning two");
  CHECK_THAT(launcher.words_about("a"), Catch::StartsWith("output of its launcher:\n  | warning one"));
  CHECK(launcher.words_about("c").empty());
}

TEST_CASE("a host that says nothing and does not join gets a hint") {
  LaunchStage stage;
  stage.settings.join_timeout = 50ms;
  stage.launch({"a"}, "exec sleep 100");
  REQUIRE(stage.until([&] { return !stage.failures.empty(); }));
  CHECK(stage.failures[0].why ==
        "a did not join within 50.0 ms; can the host reach 10.0.0.1:4711? (--join-timeout waits longer)");
}

TEST_CASE("a command that ends after its node has joined is no failure, and its words are kept") {
  LaunchStage stage;
  Launcher& launcher = stage.launch({"a"}, "read secret; echo connection reset; exit 3");
  launcher.joined("a");
  REQUIRE(stage.until([&] { return launcher.has_ended(); }));
  testing::run_ready(stage.loop);
  CHECK(stage.failures.empty());
  CHECK(launcher.words_about("a") == "sh exited with code 3: connection reset");
  CHECK(launcher.pids().empty());
}

TEST_CASE("output of an engine is bounded, and cannot control a terminal") {
  LaunchStage stage;
  stage.launch({"a"}, "yes 0123456789 | head -c 4000000; printf '\\033[31mred\\n'; exit 1");
  REQUIRE(stage.until([&] { return !stage.failures.empty(); }));
  CHECK(stage.failures[0].why.size() < 1000);
  CHECK(stage.failures[0].why.find('\x1b') == std::string::npos);
  CHECK_THAT(stage.failures[0].why, Catch::EndsWith("\\x1b[31mred"));
}

TEST_CASE("the end leaves commands time, then ends their input and asks them, then kills them") {
  LaunchStage stage;
  SECTION("one that ends by itself is not signalled") {
    stage.settings.terminate_after = 30s;
    Launcher& launcher =
        stage.launch({"a"}, "trap 'echo > signalled' TERM; exec 3<&0; read secret; touch ready; sleep 0.05");
    launcher.joined("a");
    REQUIRE(stage.until([&] { return stage.has_file("ready"); }));
    launcher.end();
    launcher.end();
    REQUIRE(stage.until([&] { return stage.is_over; }));
    CHECK(!stage.has_file("signalled"));
  }
  SECTION("one that reads its input to the end notices") {
    stage.settings.terminate_after = 50ms;
    stage.settings.kill_after = 30s;
    Launcher& launcher = stage.launch({"a"}, "trap '' TERM; touch ready; cat > input; touch ended");
    launcher.joined("a");
    REQUIRE(stage.until([&] { return stage.has_file("ready"); }));
    launcher.end();
    REQUIRE(stage.until([&] { return stage.is_over; }));
    CHECK(stage.file("input") == "open sesame\n");
    CHECK(stage.has_file("ended"));
  }
  SECTION("one that ignores everything is killed") {
    stage.settings.terminate_after = 200ms;
    stage.settings.kill_after = 200ms;
    Launcher& launcher = stage.launch({"a"}, "trap '' TERM; touch ready; while :; do sleep 100; done");
    launcher.joined("a");
    REQUIRE(stage.until([&] { return stage.has_file("ready"); }));
    const auto begin = std::chrono::steady_clock::now();
    launcher.end();
    REQUIRE(stage.until([&] { return stage.is_over; }));
    CHECK(std::chrono::steady_clock::now() - begin >= 400ms);
  }
  CHECK(stage.launcher->has_ended());
}

TEST_CASE("the end does not wait for commands of nodes that have not joined, or are lost") {
  LaunchStage stage;
  stage.settings.terminate_after = 600s;
  Launcher& launcher = stage.launch({"a", "b"}, "touch ready$$; exec sleep 100");
  SECTION("one is lost") {
    launcher.joined("a");
    launcher.lost("a");
  }
  SECTION("none has joined") {}
  CHECK(!launcher.has_ended("a"));
  launcher.end();
  REQUIRE(stage.until([&] { return stage.is_over; }));
  CHECK(launcher.has_ended("a"));
}

TEST_CASE("the end of a joined node's command is reported, since its words are complete then") {
  LaunchStage stage;
  std::string words;
  stage.on_engine_ended = [&] { words += stage.launcher->words_about("a") + ";"; };
  Launcher& launcher = stage.launch({"a", "b"}, "read secret; echo killed; exit 3");
  launcher.joined("a");
  launcher.joined("b");
  REQUIRE(stage.until([&] { return words.find("sh exited with code 3: killed;") != words.npos; }));
  CHECK(stage.failures.empty());
}

TEST_CASE("the end is reported also if everything has ended before") {
  LaunchStage stage;
  Launcher& launcher = stage.launch({"a"}, "exit 0");
  launcher.joined("a");
  REQUIRE(stage.until([&] { return launcher.has_ended(); }));
  CHECK(!stage.is_over);
  launcher.end();
  CHECK(!stage.is_over);
  REQUIRE(stage.until([&] { return stage.is_over; }));
}

TEST_CASE("a launcher that is destroyed leaves no process") {
  LaunchStage stage;
  stage.launch({"a"}, "sleep 100 & echo $! > child; exec sleep 100");
  REQUIRE(stage.until([&] { return !stage.file("child").empty(); }));
  const pid_t pid = stage.launcher->pids().front();
  const pid_t child = std::stoi(stage.file("child"));
  stage.launcher.reset();
  CHECK(testing::eventually(30s, [&] { return !testing::is_alive(pid) && !testing::is_alive(child); }));
}

TEST_CASE("a handler may destroy the launcher") {
  LaunchStage stage;
  stage.settings.engine = {EngineKind::Command, "exit 1 # {node}"};
  stage.settings.hosts = {"a"};
  bool has_failed = false;
  stage.launcher = std::make_unique<Launcher>(stage.loop, stage.settings,
                                              Launcher::Handlers{[&](const auto&) {
                                                                   has_failed = true;
                                                                   stage.launcher.reset();
                                                                 },
                                                                 [] {}});
  REQUIRE(stage.until([&] { return has_failed; }));
}

TEST_CASE("an engine that is not there is refused by name") {
  LaunchStage stage;
  ::setenv("PATH", stage.folder.path().c_str(), 1);
  stage.settings.engine = {EngineKind::Ssh, ""};
  const Error error = error_of([&] { stage.launch({"a"}); });
  CHECK(error.text() ==
        "cannot find ssh in PATH; install it, or use --launcher with another way to start a command on a host");
}

}  // namespace
}  // namespace distrun::nodes
