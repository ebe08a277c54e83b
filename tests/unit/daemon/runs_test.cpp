#include <catch2/catch.hpp>

#include <signal.h>

#include <list>
#include <memory>

#include <distrun/common/base/error.hpp>
#include <distrun/runner/daemon/runs.hpp>

#include "../support/loop.hpp"
#include "order.hpp"
#include "support/scratch.hpp"

using namespace distrun;
using namespace distrun::testing;
using daemon::Runs;

namespace {

// The notifications about a run.
struct Told {
  std::vector<int> positions;
  pid_t pid = 0;
  std::vector<wire::RunEnded> ended;

  bool is_over() const { return !ended.empty(); }
};

struct Stage {
  explicit Stage(int parallel = 1, const std::string& program = kShell)
      : runs(loop, program, {parallel, 100}, [this] { ++empty; }) {}

  struct Entry {
    std::string id;
    Told told;
    Place place;
  };
  Entry& add(const std::string& script, const std::string& directory = "/") { return add(order(script), directory); }
  Entry& add(const wire::Submission& submission, const std::string& directory = "/") {
    Entry& entry = entries.emplace_back(Entry{"", {}, Place(directory)});
    daemon::RunEvents events;
    events.on_position = [&](int ahead) { entry.told.positions.push_back(ahead); };
    events.on_started = [&](pid_t pid) { entry.told.pid = pid; };
    events.on_ended = [&](const wire::RunEnded& ended) { entry.told.ended.push_back(ended); };
    entry.id = runs.add(submission, entry.place.descriptors(), std::move(events));
    return entry;
  }
  bool ends(const Entry& entry) {
    return run_until(loop, [&] { return entry.told.is_over(); });
  }
  bool starts(const Entry& entry) {
    return run_until(loop, [&] { return entry.told.pid != 0; });
  }
  // Waits for the run's first byte: its shell has then set its traps.
  void is_ready(Entry& entry) {
    REQUIRE(starts(entry));
    char byte = 0;
    REQUIRE(::read(entry.place.output.first.get(), &byte, 1) == 1);
  }

  io::Loop loop;
  int empty = 0;
  std::list<Entry> entries;
  Runs runs;
};

}  // namespace

TEST_CASE("a run gets the descriptors, arguments and environment of its client") {
  const Scratch scratch;
  write_file(scratch.path() + "/here", "");
  Stage stage;
  wire::Submission submission = order("echo \"$0 $MARK $#\"; umask; ls /proc/self/fd/3/; echo to errors >&2; exit 7");
  submission.arguments.insert(submission.arguments.end(), {"name", "a", "b c"});
  submission.environment.emplace_back("MARK=marked");
  submission.file_mask = 077;
  Stage::Entry& run = stage.add(submission, scratch.path());
  REQUIRE(stage.ends(run));
  CHECK(run.place.written() == "name marked 2\n0077\nhere\nto errors\n");
  CHECK(run.told.ended.front().exit_code == 7);
  CHECK(run.told.ended.front().why.empty());
}

TEST_CASE("a run knows its real id, even if the client sends another") {
  Stage stage;
  wire::Submission submission = order("echo $DISTRUN_DAEMON_RUN; tr '\\0' '\\n' </proc/$$/environ | grep -c N_RUN");
  submission.environment.emplace_back("DISTRUN_DAEMON_RUN=ffffffffffff");
  Stage::Entry& run = stage.add(submission);
  REQUIRE(stage.ends(run));
  CHECK(run.place.written() == run.id + "\n1\n");
}

TEST_CASE("a run leads a separate session, and has no terminal") {
  Stage stage;
  Stage::Entry& run = stage.add("cut -d' ' -f5,6,7 /proc/$$/stat; readlink /proc/self/fd/0");
  REQUIRE(stage.ends(run));
  const std::string pid = std::to_string(run.told.pid);
  CHECK(run.place.written() == pid + " " + pid + " 0\n/dev/null\n");
}

TEST_CASE("runs wait for their turn and learn how many runs are ahead") {
  Stage stage;
  Stage::Entry& first = stage.add("echo x; exec sleep 100");
  Stage::Entry& second = stage.add("exit 2");
  Stage::Entry& third = stage.add("exit 3");
  CHECK(stage.runs.ahead(third.id) == 2);
  stage.is_ready(first);
  CHECK(stage.runs.ahead(third.id) == 2);
  CHECK(second.told.pid == 0);
  stage.runs.signal(first.id, SIGINT);
  REQUIRE(stage.ends(third));
  CHECK(first.told.ended.front().signal == SIGINT);
  CHECK(second.told.ended.front().exit_code == 2);
  CHECK(third.told.ended.front().exit_code == 3);
  CHECK(third.told.positions == std::vector<int>{1});
  CHECK(stage.runs.done() == 3);
  run_ready(stage.loop);
  CHECK(stage.runs.empty());
  CHECK(stage.empty > 0);
}

TEST_CASE("a run that cannot be started ends with the reason, and the next one starts") {
  Stage stage(1, "/nonexistent/distrun");
  Stage::Entry& first = stage.add("exit 0");
  Stage::Entry& second = stage.add("exit 0");
  REQUIRE(stage.ends(second));
  CHECK(first.told.ended.front().exit_code == 3);
  CHECK_THAT(first.told.ended.front().why, Catch::Contains("cannot start /nonexistent/distrun"));
  CHECK(first.told.pid == 0);
}

TEST_CASE("a run that waits is cancelled by a signal that would end it") {
  Stage stage;
  Stage::Entry& first = stage.add("echo x; exec sleep 100");
  Stage::Entry& second = stage.add("exit 0");
  stage.is_ready(first);
  stage.runs.signal(second.id, SIGQUIT);
  CHECK_FALSE(second.told.is_over());
  stage.runs.signal(second.id, SIGTERM);
  REQUIRE(second.told.is_over());
  CHECK(second.told.ended.front().exit_code == 130);
  CHECK(second.place.written().empty());
  stage.runs.end_all("");
  CHECK(stage.ends(first));
}

TEST_CASE("cancel takes one run or all, and reports what it found") {
  Stage stage;
  Stage::Entry& first = stage.add("trap 'kill $!; exit 130' INT; sleep 100 & echo x; wait");
  Stage::Entry& second = stage.add("exit 0");
  Stage::Entry& third = stage.add("exit 0");
  stage.is_ready(first);
  CHECK(stage.runs.cancel("unknown").queued.empty());
  CHECK(stage.runs.cancel(third.id).queued == std::vector<std::string>{third.id});
  REQUIRE(third.told.is_over());
  CHECK_FALSE(first.told.is_over());
  const wire::RunsCancelled all = stage.runs.cancel("all");
  CHECK(all.queued == std::vector<std::string>{second.id});
  CHECK(all.running == std::vector<std::string>{first.id});
  REQUIRE(stage.ends(first));
  CHECK(first.told.ended.front().exit_code == 130);
  CHECK_THAT(first.told.ended.front().why, Catch::Contains("distrun cancel"));
}

TEST_CASE("a run that resists is finally killed") {
  Stage stage;
  Stage::Entry& run = stage.add("trap '' TERM INT HUP; echo x; while :; do sleep 100; done");
  stage.is_ready(run);
  for (int i = 0; i < 4; ++i) stage.runs.end_all("enough");
  REQUIRE(stage.ends(run));
  CHECK(run.told.ended.front().signal == SIGKILL);
  CHECK(run.told.ended.front().why == "enough");
}

TEST_CASE("a run that was stopped by SIGSTOP still ends") {
  Stage stage;
  Stage::Entry& run = stage.add("echo x; exec sleep 100");
  stage.is_ready(run);
  ::kill(run.told.pid, SIGSTOP);
  stage.runs.end_all("");
  REQUIRE(stage.ends(run));
  CHECK(run.told.ended.front().signal == SIGTERM);
}

TEST_CASE("a run that its client has abandoned ends, and no client is notified") {
  Stage stage;
  Stage::Entry& first = stage.add("echo x; exec sleep 100");
  Stage::Entry& second = stage.add("exit 0");
  stage.is_ready(first);
  stage.runs.abandon(second.id);
  stage.runs.abandon(first.id);
  REQUIRE(run_until(stage.loop, [&] { return stage.runs.empty(); }));
  CHECK_FALSE(first.told.is_over());
  CHECK_FALSE(second.told.is_over());
}

TEST_CASE("a run stopped by its terminal makes room for the next") {
  Stage stage;
  Stage::Entry& first = stage.add("echo x; exec sleep 100");
  Stage::Entry& second = stage.add("exit 0");
  stage.is_ready(first);
  stage.runs.signal(first.id, SIGTSTP);
  REQUIRE(stage.ends(second));
  CHECK(stage.runs.status().front().stopped);
  stage.runs.signal(first.id, SIGCONT);
  CHECK_FALSE(stage.runs.status().front().stopped);
  stage.runs.end_all("");
  CHECK(stage.ends(first));
}

TEST_CASE("a run that only waits for its reader makes room for the next") {
  Stage stage;
  Stage::Entry& first = stage.add("echo >&4; exec sleep 100");
  Stage::Entry& second = stage.add("exit 0");
  REQUIRE(stage.ends(second));
  CHECK_FALSE(first.told.is_over());
  CHECK(stage.runs.status().front().over);
  stage.runs.end_all("");
  CHECK(stage.ends(first));
}

TEST_CASE("the status lists the runs that run, then those that wait") {
  Stage stage;
  Stage::Entry& first = stage.add("echo x; exec sleep 100 # " + std::string(400, 'y'));
  Stage::Entry& second = stage.add("exit 0");
  stage.is_ready(first);
  const std::vector<wire::DaemonRun> status = stage.runs.status();
  REQUIRE(status.size() == 2);
  CHECK(status[0].run_id == first.id);
  CHECK(status[0].pid == first.told.pid);
  CHECK(status[0].command.size() <= 203);
  CHECK(status[1].run_id == second.id);
  CHECK(status[1].pid == 0);
  CHECK(status[1].ahead == 1);
  CHECK(status[1].command == "sh -c 'exit 0'");
  for (const wire::DaemonRun& run : status) CHECK(run.directory == "/");
  stage.runs.end_all("");
  CHECK(stage.ends(first));
}
