// Programs as ranks: their environment, the meaning of their exit codes, and their output.
#include <catch2/catch.hpp>

#include <algorithm>
#include <csignal>
#include <cstdlib>

#include <distrun/runner/attempt/program.hpp>
#include <distrun/runner/attempt/script_note.hpp>
#include <distrun/runner/proc/environment.hpp>
#include <distrun/runner/record/judge.hpp>

#include "stage.hpp"

using namespace distrun;
using namespace distrun::runner;
using namespace std::chrono_literals;
using proc::ExitStatus;
using wire::Phase;

namespace {

Settings settings_of(const std::string& path, int world_size) {
  Settings settings;
  settings.program_path = path;
  settings.program = {path, "--steps", "3"};
  settings.world_size = world_size;
  settings.isolation = Isolation::Program;
  settings.timeout = {};
  return settings;
}

std::string value_of(const std::vector<std::string>& variables, const std::string& name) {
  std::string value = "(not set)";
  for (const std::string& each : variables) {
    if (each.starts_with(name + "=")) value = each.substr(name.size() + 1);
  }
  return value;
}

// An attempt at a program with ranks that are played by the test.
class ProgramStage : public Stage {
 public:
  explicit ProgramStage(int world_size) : Stage(world_size) {
    settings = settings_of("/bin/train", world_size);
    test = plan_program(settings);
  }
  fake::World& begin_program() {
    fake::World& world = begin();
    world.start_all();
    for (int rank = 0; rank < settings.world_size; ++rank) world.events().on_program(rank);
    return world;
  }
};

}  // namespace

TEST_CASE("a program is one test, named after the program as far as a test name allows") {
  CHECK(plan_program(settings_of("/usr/bin/env", 2)).id == "exec.env");
  CHECK(plan_program(settings_of("./train-2.py", 2)).id == "exec.train_2_py");
  CHECK(plan_program(settings_of("./\xff\n*", 2)).id == "exec.___");
  CHECK(plan_program(settings_of("/", 2)).id == "exec.program");
  CHECK(plan_program(settings_of(std::string(5000, 'x'), 2)).id.size() < 200);
  CHECK(plan_program(settings_of("./a", 64)).variant.world_size == 64);
  CHECK(plan_program(settings_of("./a", 64)).is_program());
}

TEST_CASE("a program run by an interpreter is named after the script, and a user's name wins over both") {
  const auto name = [](const std::string& path, std::vector<std::string> words) {
    Settings settings = settings_of(path, 2);
    settings.program = std::move(words);
    return plan_program(settings).id;
  };
  CHECK(name("/usr/bin/python3.11", {"python3", "-u", "src/train.py", "--lr", "1"}) == "exec.train_py");
  CHECK(name("/usr/bin/python3", {"python3", "-m", "torch.distributed.run"}) == "exec.torch_distributed_run");
  CHECK(name("/usr/bin/python3", {"python3", "-c", "pass"}) == "exec.python3");
  CHECK(name("/bin/bash", {"bash", "-x", "-o", "pipefail", "./run.sh", "-c"}) == "exec.run_sh");
  CHECK(name("/bin/sh", {"sh", "-ec", "exit 1"}) == "exec.sh");
  CHECK(name("/usr/bin/perl", {"perl", "-w", "solve.pl"}) == "exec.solve_pl");
  CHECK(name("/usr/bin/perl", {"perl", "-e", "exit"}) == "exec.perl");
  CHECK(name("./solver", {"./solver", "input.txt"}) == "exec.solver");
  Settings settings = settings_of("/usr/bin/python3", 2);
  settings.program_name = "nightly-2.1";
  CHECK(plan_program(settings).id == "exec.nightly-2.1");
}

TEST_CASE("each rank finds its rank and the addresses of the others in its environment") {
  Settings settings = settings_of("./train", 3);
  settings.env = {{"MASTER_ADDR", "::1"}, {"DEPTH", "4=5"}};
  const launch::ProgramSpec program = local_program_spec(settings, "run0", "/tmp/shared");
  CHECK(program.arguments == settings.program);
  CHECK(program.environment == proc::own_environment());
  CHECK(program.overrides == std::vector<std::string>{"MASTER_ADDR=::1", "DEPTH=4=5"});  // they win
  REQUIRE(program.variables.size() == 3);
  for (int rank = 0; rank < 3; ++rank) {
    const auto& variables = program.variables[static_cast<std::size_t>(rank)];
    for (const char* name : {"RANK", "LOCAL_RANK", "DISTRUN_RANK"}) {
      CHECK(value_of(variables, name) == std::to_string(rank));
    }
    for (const char* name : {"WORLD_SIZE", "LOCAL_WORLD_SIZE", "DISTRUN_WORLD_SIZE"}) {
      CHECK(value_of(variables, name) == "3");
    }
    CHECK(value_of(variables, "GROUP_RANK") == "0");
    CHECK(value_of(variables, "DISTRUN_RUN_ID") == "run0");
    CHECK(value_of(variables, "DISTRUN_TEMP_DIR") == "/tmp/shared");
    CHECK(value_of(variables, "MASTER_ADDR") == "127.0.0.1");
    CHECK(value_of(variables, "DISTRUN_HOSTS") == "(not set)");
    for (const char* name : {"PYTHONUNBUFFERED", "GFORTRAN_UNBUFFERED_PRECONNECTED"}) {
      CHECK(value_of(variables, name) == (std::getenv(name) == nullptr ? "1" : "(not set)"));
    }
    CHECK(value_of(variables, "MASTER_PORT") == value_of(program.variables[0], "MASTER_PORT"));
    CHECK(std::stoi(value_of(variables, "MASTER_PORT")) > 0);
  }
}

TEST_CASE("on one of several hosts, ranks have their numbers in the world and those on their host") {
  launch::ProgramSpec program = program_spec(settings_of("train", 8));
  program.environment = {"DISTRUN_THREADS=5", "PYTHONUNBUFFERED="};
  ProgramPlace place;
  place.master_address = "10.0.0.1";
  place.master_port = 4711;
  place.world_size = 8;
  place.first_rank = 5;
  place.ranks_here = 2;
  place.host = 1;
  place.hosts = "a=0-4;b=5-6;c=7";
  place.host_address = "10.0.0.2";
  set_place(program, place);
  REQUIRE(program.variables.size() == 2);
  for (int local = 0; local < 2; ++local) {
    const auto& variables = program.variables[static_cast<std::size_t>(local)];
    CHECK(value_of(variables, "RANK") == std::to_string(5 + local));
    CHECK(value_of(variables, "DISTRUN_RANK") == std::to_string(5 + local));
    CHECK(value_of(variables, "LOCAL_RANK") == std::to_string(local));
    CHECK(value_of(variables, "WORLD_SIZE") == "8");
    CHECK(value_of(variables, "LOCAL_WORLD_SIZE") == "2");
    CHECK(value_of(variables, "GROUP_RANK") == "1");
    CHECK(value_of(variables, "MASTER_ADDR") == "10.0.0.1");
    CHECK(value_of(variables, "MASTER_PORT") == "4711");
    CHECK(value_of(variables, "DISTRUN_HOSTS") == place.hosts);
    CHECK(value_of(variables, "DISTRUN_HOST_ADDRESS") == "10.0.0.2");
    // The user has set these, so they stay.
    CHECK(value_of(variables, "DISTRUN_THREADS") == "(not set)");
    CHECK(value_of(variables, "PYTHONUNBUFFERED") == "(not set)");
    CHECK(value_of(variables, "GFORTRAN_UNBUFFERED_PRECONNECTED") == "1");
  }
}

TEST_CASE("the exit code of a program is its result") {
  RankState rank;
  CHECK(outcome_of_program(rank, ExitStatus::of_code(0)).kind == OutcomeKind::Passed);
  for (const int code : {1, 3, 10, 74, 77, 86, 255}) {  // the codes of the skip table have no meaning here
    const Outcome outcome = outcome_of_program(rank, ExitStatus::of_code(code));
    CHECK(outcome.kind == OutcomeKind::Failed);
    CHECK(outcome.value == code);
    CHECK(describe(outcome) == "exited with code " + std::to_string(code));
  }
  CHECK(outcome_of_program(rank, ExitStatus::of_signal(SIGSEGV)).kind == OutcomeKind::Signaled);
  rank.signaled_by_us = true;
  CHECK(outcome_of_program(rank, ExitStatus::of_signal(SIGTERM)).kind == OutcomeKind::KilledByUs);
  CHECK(outcome_of_program(rank, ExitStatus::of_code(143)).kind == OutcomeKind::KilledByUs);
  CHECK(outcome_of_program(rank, ExitStatus::of_code(0)).kind == OutcomeKind::Passed);
  rank.record.outcome = {OutcomeKind::TimedOut, 0, "1 s"};
  CHECK(outcome_of_program(rank, ExitStatus::of_code(0)).kind == OutcomeKind::TimedOut);
}

TEST_CASE("ranks that exit with 0 pass, in spawn, body and exit, and get no messages") {
  ProgramStage stage(2);
  fake::World& world = stage.begin_program();
  world.end(1);
  CHECK_FALSE(stage.is_over());
  CHECK(world.signals.empty());
  world.end(0);
  const AttemptRecord& record = stage.finish();
  CHECK(record.verdict == Verdict::Pass);
  CHECK(record.ranks[0].phase == Phase::Exit);
  CHECK(world.sent_kinds.empty());
  CHECK(stage.told.count("rank phase 0 body") == 1);
  CHECK(stage.told.count("rank phase 0 exit") == 1);
}

TEST_CASE("the rank that failed first is named, and the others are ended after their grace") {
  ProgramStage stage(4);
  fake::World& world = stage.begin_program();
  const auto failed_at = fake::Clock::now();
  world.end(2, ExitStatus::of_code(3));
  REQUIRE(stage.until([&] { return world.was_sent(0, SIGTERM) && world.was_sent(3, SIGTERM); }));
  CHECK(fake::Clock::now() - failed_at >= stage.graces.peers);
  for (const int rank : {0, 1, 3}) world.die(rank, SIGTERM);
  const AttemptRecord& record = stage.finish();
  CHECK(record.verdict == Verdict::Fail);
  CHECK(record.message == "rank 2 exited with code 3");
  CHECK(record.culprits == std::vector<int>{2});
  CHECK(record.ranks[0].outcome.kind == OutcomeKind::KilledByUs);
  CHECK(record.ranks[0].because_of == 2);
  CHECK(world.sent_kinds.empty());
}

TEST_CASE("of ranks that fail within the grace, only those with the same exit code are grouped") {
  ProgramStage stage(4);
  fake::World& world = stage.begin_program();
  world.end(2, ExitStatus::of_code(3));
  world.end(0, ExitStatus::of_code(1));
  world.end(3, ExitStatus::of_code(3));
  world.end(1);
  const AttemptRecord& record = stage.finish();
  CHECK(record.message == "rank 2 exited with code 3; so did rank 3; rank 0 failed later");
  CHECK(record.culprits.front() == 2);
}

TEST_CASE("programs are ended by the signal that their user chose, then by SIGTERM, then by SIGKILL") {
  ProgramStage stage(2);
  stage.settings.stop_signal = SIGINT;
  fake::World& world = stage.begin_program();
  stage.attempt->cancel(Urgency::Polite);
  REQUIRE(stage.until([&] { return world.was_sent(1, SIGKILL); }));
  CHECK(world.signals_of(1) == std::vector<int>{SIGINT, SIGCONT, SIGTERM, SIGCONT, SIGKILL});
  CHECK(world.signals.back().at - world.signals.front().at >= 2 * stage.graces.terminate);
  world.die(0, SIGINT);
  world.die(1, SIGKILL);
  const AttemptRecord& record = stage.finish();
  CHECK(record.ranks[0].outcome.kind == OutcomeKind::KilledByUs);
}

TEST_CASE("a user's signal goes to each rank's process once it runs its program, and to no rank of a test") {
  ProgramStage stage(2);
  fake::World& world = stage.begin();
  world.start_all();
  stage.attempt->pass_on(SIGUSR1);
  CHECK(world.to_processes.empty());  // the signal would end a rank that is not running the program yet
  for (const int rank : {0, 1}) world.events().on_program(rank);
  REQUIRE(world.to_processes.size() == 2);
  for (const fake::World::Signal& signal : world.to_processes) CHECK(signal.number == SIGUSR1);
  world.end(0);
  stage.attempt->pass_on(SIGUSR2);
  REQUIRE(world.to_processes.size() == 3);
  CHECK(world.to_processes[2].rank == 1);
  CHECK(world.to_processes[2].number == SIGUSR2);
  CHECK(world.signals.empty());
  world.end(1);
  CHECK(stage.finish().verdict == Verdict::Pass);
  Stage of_test(1);
  fake::World& ranks = of_test.begin();
  ranks.start_and_greet_all();
  of_test.attempt->pass_on(SIGUSR1);
  CHECK(ranks.to_processes.empty());
  ranks.pass(0);
  of_test.finish();
}

TEST_CASE("a program has no timeout unless it is given one") {
  ProgramStage stage(2);
  CHECK(bound_of(Phase::Body, stage.test.info, stage.settings) >= 24h * 300);
  stage.settings.timeout = 30ms;
  fake::World& world = stage.begin_program();
  REQUIRE(stage.until([&] { return world.was_sent(0, SIGTERM); }));
  CHECK(world.snapshots == 1);
  world.die(0, SIGTERM);
  world.die(1, SIGTERM);
  CHECK(stage.finish().verdict == Verdict::Timeout);
}

TEST_CASE("a program that cannot be started is not a failure of the program") {
  ProgramStage stage(2);
  fake::World& world = stage.begin();
  world.start_all();
  world.error(0, "cannot start ./a: Exec format error");
  world.end(0, ExitStatus::of_code(127));
  world.die(1, SIGTERM);
  const AttemptRecord& record = stage.finish();
  CHECK(record.verdict == Verdict::InfraError);
  CHECK(record.message == "cannot start ./a: Exec format error");
}

TEST_CASE("output that has been shown stays out of the record, except for its size") {
  ProgramStage stage(1);
  stage.settings.keep_output = GENERATE(true, false);
  fake::World& world = stage.begin_program();
  world.output[0] = "hello\n";
  world.end(0);
  const AttemptRecord& record = stage.finish();
  CHECK(record.ranks[0].out.text == (stage.settings.keep_output ? "hello\n" : ""));
}

TEST_CASE("the last 50 lines of standard error of a program that fails are kept") {
  const bool fails = GENERATE(true, false);
  ProgramStage stage(2);
  stage.settings.keep_output = false;
  fake::World& world = stage.begin_program();
  std::string text;
  for (int i = 1; i <= 60; ++i) text += "line " + std::to_string(i) + "\n";
  world.errors[0] = text;
  world.errors[1] = "few\nlines";
  world.output[0] = "shown\n";
  world.end(0, ExitStatus::of_code(fails ? 1 : 0));
  world.end(1, ExitStatus::of_code(fails ? 1 : 0));
  const AttemptRecord& record = stage.finish();
  CHECK(record.ranks[0].out.text.empty());
  const proc::Captured& first = record.ranks[0].err;
  const std::size_t kept = text.find("line 11\n");
  CHECK(first.text ==
        (fails ? "[distrun: " + std::to_string(kept) + " bytes left out here]\n" + text.substr(kept) : ""));
  CHECK(first.bytes_dropped == (fails ? kept : text.size()));
  CHECK(record.ranks[1].err.text == (fails ? "few\nlines" : ""));
}

TEST_CASE("endless last lines are cut") {
  ProgramStage stage(1);
  stage.settings.keep_output = false;
  fake::World& world = stage.begin_program();
  world.errors[0] = std::string(1 << 20, 'x');
  world.end(0, ExitStatus::of_code(1));
  CHECK(stage.finish().ranks[0].err.text.size() < (65 << 10));
}

namespace {

class Reader final : public OutputSink {
 public:
  bool full = false;
  std::string text;
  void on_output(int rank, launch::Stream, std::string_view bytes) override {
    text += std::to_string(rank) + ":" + std::string(bytes) + " ";
  }
  bool is_full() override { return full; }
};

}  // namespace

TEST_CASE("a reader that is too slow blocks the ranks until it has caught up") {
  io::Loop loop;
  Reader reader;
  struct World : fake::World {
    using fake::World::World;
    std::vector<bool> holds;
    void hold_output(bool hold) override { holds.push_back(hold); }
  };
  struct Events : launch::WorldEvents {
    void on_rank_started(int, int) override {}
    void on_frame(int, const wire::Frame&) override {}
    void on_connection_lost(int, const std::string&) override {}
    void on_rank_ended(int, ExitStatus, int) override {}
    void on_spawn_failed(const std::string&) override {}
  } events;
  World world(loop, {}, events);
  OutputGate gate(loop, reader, world);
  gate.on_output(0, launch::Stream::Out, "a");
  CHECK(world.holds.empty());
  reader.full = true;
  gate.on_output(1, launch::Stream::Err, "b");
  gate.on_output(1, launch::Stream::Err, "c");
  CHECK(world.holds == std::vector<bool>{true});
  testing::run_ready(loop);
  CHECK(world.holds == std::vector<bool>{true});
  reader.full = false;
  REQUIRE(testing::run_until(loop, [&] { return world.holds.size() == 2; }));
  CHECK_FALSE(world.holds.back());
  CHECK(reader.text == "0:a 1:b 1:c ");
}

TEST_CASE("the script of a Python interpreter is found in its arguments, and other programs run no script") {
  using Words = std::vector<std::string>;
  CHECK(python_script("python3.11", Words{"python3", "train.py", "-m", "x"}) == "train.py");
  CHECK(python_script("python3", Words{"python3", "-u", "-X", "dev", "a/b.py"}) == "a/b.py");
  CHECK(python_script("python3", Words{"python3", "-m", "torch.run", "y.py"}) == "module torch.run");
  CHECK(python_script("python3", Words{"python3", "-c", "while True: pass"}) == "its -c argument");
  CHECK(python_script("python3", Words{"python3"}) == "its standard input");
  CHECK_FALSE(python_script("bash", Words{"bash", "train.py"}));
  CHECK_FALSE(python_script("", Words{}));
}
