// Runs are recorded, and `distrun history` shows them.
#include <catch2/catch.hpp>

#include <signal.h>
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "programs.hpp"

namespace {

namespace fs = std::filesystem;

using namespace distrun::testing;
using Catch::Contains;

using Texts = std::vector<std::string>;

constexpr int kNothingRan = 4;

// A sandbox with a separate history.
class Remembering {
 public:
  Remembering() : sandbox_(distrun_program()) { set({"DISTRUN_HISTORY=" + path()}); }

  std::string path() const { return sandbox_.output() + "/state/history.db"; }
  const Sandbox& sandbox() const { return sandbox_; }
  // Sets the environment variables that select the history's location, for the commands that follow; others stay unset.
  void set(Texts variables) { variables_ = std::move(variables); }

  Command command(Texts arguments) const {
    Command command = sandbox_.command(std::move(arguments));
    std::erase_if(command.environment, [](const std::string& entry) {
      const std::string name = entry.substr(0, entry.find('='));
      return name == "DISTRUN_HISTORY" || name == "XDG_STATE_HOME" || name == "HOME";
    });
    command.environment.insert(command.environment.end(), variables_.begin(), variables_.end());
    return command;
  }
  Ended run(Texts arguments) const { return Running(command(std::move(arguments))).wait(scaled(milliseconds(30'000))); }
  // Runs distrun history, which must succeed.
  std::string history(Texts arguments = {}) const {
    arguments.insert(arguments.begin(), "history");
    const Ended ended = run(std::move(arguments));
    INFO(ended.out << ended.err);
    CHECK(ended.exit_code == 0);
    CHECK(ended.err.empty());
    return ended.out;
  }

 private:
  Sandbox sandbox_;
  Texts variables_;
};

// Returns the ids that follow "test start" in an event stream, in order.
Texts started_in(const std::string& events) {
  Texts ids;
  const std::string kind = "\"kind\":\"test_start\"";
  for (std::size_t at = events.find(kind); at != std::string::npos; at = events.find(kind, at + 1)) {
    const std::size_t from = events.find("\"test\":\"", at) + 8;
    ids.push_back(events.substr(from, events.find('"', from) - from));
  }
  return ids;
}

}  // namespace

TEST_CASE("every run is recorded, and the table begins with failing tests", "[history]") {
  const Remembering here;
  CHECK_THAT(here.history(), Contains("the history is empty") && Contains(here.path()));
  CHECK_FALSE(exists(here.path()));
  for (int i = 0; i < 2; ++i) {
    CHECK(here.run({"--filter", "Fails.require Passes.trivial", plugin("passes"), plugin("fails")}).exit_code == 1);
  }
  const std::string table = here.history();
  INFO(table);
  CHECK_THAT(table, Contains("0/2") && Contains("2/2") && Contains("2 tests, 1 fails now"));
  CHECK(table.find("Fails.require") < table.find("Passes.trivial"));
  CHECK(table.find('\x1b') == std::string::npos);  // not a terminal
  CHECK_THAT(here.history({"--color", "always"}), Contains("\x1b["));
  CHECK(here.sandbox().remains().empty());
}

TEST_CASE("each result of a test is listed with its run and its message, newest first", "[history]") {
  const Remembering here;
  const std::string summary = here.sandbox().output() + "/summary.json";
  Texts runs;
  for (int i = 0; i < 3; ++i) {
    here.run({"--json", summary, "--filter", "Fails.require", plugin("fails")});
    runs.push_back(read_summary(summary).run_id);
  }
  const std::string results = here.history({"Fails.*"});
  INFO(results);
  CHECK(count_of(results, "rank 2 failed: REQUIRE(answer == 42)") == 3);
  CHECK(results.find(runs[2]) < results.find(runs[1]));
  CHECK(results.find(runs[1]) < results.find(runs[0]));
  CHECK(results.find(runs[0]) != std::string::npos);
  const std::string newest = here.history({"Fails.require", "--limit", "1"});
  CHECK_THAT(newest, Contains(runs[2]) && !Contains(runs[1]));
  CHECK_THAT(here.history({"--since", "1h", "Fails"}), Contains(runs[0]));
}

TEST_CASE("JSON is one document with all details", "[history]") {
  const Remembering here;
  CHECK(wrong_with_json(here.history({"--json"})).empty());
  here.run({"--retries", "1", "--filter", "Flaky.fails_once", plugin("flaky")});
  const std::string table = here.history({"--json"});
  INFO(table);
  CHECK(wrong_with_json(table).empty());
  CHECK_THAT(table, Contains("\"distrun.history/1\"") && Contains("\"Flaky.fails_once\"") &&
                        Contains("\"flakiness\": 1,") && Contains("\"suggested_timeout_ms\": null"));
  const std::string results = here.history({"--json", "Flaky"});
  CHECK(wrong_with_json(results).empty());
  CHECK_THAT(results,
             Contains("\"attempts\": 2") && Contains("\"verdict\": \"flaky\"") && Contains("\"world_size\": 4"));
}

TEST_CASE("the history is at the given path, or off", "[history]") {
  Remembering here;
  const std::string home = here.sandbox().output() + "/home";
  const Texts trivial = {"--filter", "Passes.trivial", plugin("passes")};
  const auto run_with = [&](Texts more) {
    more.insert(more.end(), trivial.begin(), trivial.end());
    const Ended ended = here.run(more);
    CHECK(ended.exit_code == 0);
    CHECK(ended.err.empty());
  };
  here.set({"HOME=" + home});
  run_with({"--history", "off"});
  CHECK_FALSE(exists(home));
  run_with({"--history", here.path()});
  CHECK(exists(here.path()));
  CHECK_FALSE(exists(home));
  run_with({});
  CHECK(exists(home + "/.local/state/distrun/history.db"));
  here.set({"HOME=" + home, "XDG_STATE_HOME=" + home + "/xdg"});
  run_with({});
  CHECK(exists(home + "/xdg/distrun/history.db"));
  here.set({});
  run_with({});  // silently
  const Ended lost = here.run({"history"});
  CHECK(lost.exit_code == kUsage);
  CHECK_THAT(lost.err, Contains("--history") && Contains("DISTRUN_HISTORY"));
  CHECK(here.sandbox().remains().empty());
}

TEST_CASE("the history is not open in any process while ranks run", "[history]") {
  Remembering here;
  CHECK(here.run({"--history", here.path(), "--filter", "Passes.trivial", plugin("passes")}).exit_code == 0);
  Running running = here.sandbox().start({"--history", here.path(), "--order", "failed-first", "--timeout", "100s",
                                          "--filter", "Hangs.one_sleeps", plugin("hangs")});
  // guard, coordinator, four ranks
  REQUIRE(eventually(scaled(milliseconds(10'000)), [&] { return here.sandbox().processes().size() >= 6; }));
  for (const ProcessInfo& info : here.sandbox().processes()) {
    for (const std::string& fd : names_in("/proc/" + std::to_string(info.pid) + "/fd")) {
      std::error_code gone;
      const fs::path target = fs::read_symlink("/proc/" + std::to_string(info.pid) + "/fd/" + fd, gone);
      CHECK_THAT(target.string(), !Contains(here.path()));
    }
  }
  running.signal(SIGINT);
  CHECK(running.wait(scaled(milliseconds(5'000))).exit_code == 130);
}

TEST_CASE("a history that cannot be written is reported in a line, and the run continues", "[history]") {
  Remembering here;
  const std::string thesis = here.sandbox().output() + "/thesis.txt";
  write_file(thesis, std::string(5000, 'x'));
  const std::string place = GENERATE("thesis", "directory", "/proc/none/history.db");
  const std::string path = place == "thesis" ? thesis : place == "directory" ? here.sandbox().output() : place;
  here.set({"DISTRUN_HISTORY=" + path});
  const Ended ended = here.run({"--filter", "Passes.trivial", plugin("passes")});
  INFO(ended.err);
  CHECK(ended.exit_code == 0);
  CHECK_THAT(ended.err, Contains("distrun: this run was not added to the history: ") && Contains(path.substr(0, 10)));
  CHECK(count_of(ended.err, "\n") == 1);
  CHECK(read_file(thesis) == std::string(5000, 'x'));
  CHECK(here.run({"history", "--suggest-timeouts"}).exit_code != 0);
}

TEST_CASE("a run that is interrupted is recorded as well", "[history]") {
  const Remembering here;
  const std::string events = here.sandbox().output() + "/events.ndjson";
  Running running(
      here.command({"--events", events, "--filter", "Hangs.one_sleeps", "--timeout", "100s", plugin("hangs")}));
  REQUIRE(eventually(scaled(milliseconds(10'000)), [&] { return started_in(read_file(events)).size() == 1; }));
  running.signal(SIGINT);
  CHECK(running.wait(scaled(milliseconds(10'000))).exit_code == 130);
  CHECK_THAT(here.history(), Contains("cancelled") && Contains("Hangs.one_sleeps"));
  here.sandbox().sweep();
}

TEST_CASE("with failed-first the tests run in the order that the history suggests", "[history]") {
  const Remembering here;
  const std::string events = here.sandbox().output() + "/events.ndjson";
  const Texts select = {
      "--events",       events,          "--filter",     "Passes.trivial Fails.require Flaky.fails_once",
      plugin("passes"), plugin("fails"), plugin("flaky")};
  const auto order = [&](Texts arguments) {
    arguments.insert(arguments.end(), select.begin(), select.end());
    here.run(arguments);
    return started_in(read_file(events));
  };
  const Texts declared = {"Passes.trivial", "Fails.require", "Flaky.fails_once"};
  CHECK(order({"--order", "failed-first", "--history", "off"}) == declared);
  CHECK(order({"--order", "failed-first"}) == declared);  // no history yet
  const Texts hinted = order({"--order", "failed-first"});
  REQUIRE(hinted.size() == 3);
  CHECK(hinted.back() == "Passes.trivial");
  CHECK(order({}) == declared);
}

TEST_CASE("other summaries are imported once, and an invalid one does not prevent the rest", "[history]") {
  const Remembering here;
  const std::string summary = here.sandbox().output() + "/summary.json";
  here.run({"--history", "off", "--json", summary, "--filter", "Fails.require", plugin("fails")});
  const std::string bad = here.sandbox().output() + "/bad.json";
  write_file(bad, read_file(summary).substr(0, 1000));
  const Ended first = here.run({"history", "--import", bad, summary, "/no/such/file"});
  INFO(first.out << first.err);
  CHECK(first.exit_code == kUsage);
  CHECK_THAT(first.out, Contains(summary + ": run " + read_summary(summary).run_id + ", 1 test\n"));
  CHECK_THAT(first.err, Contains(bad + ": ") && Contains("not valid JSON") && Contains("/no/such/file"));
  CHECK_THAT(here.history({"--import", summary}), Contains("already in the history"));
  CHECK(count_of(here.history({"Fails"}), "REQUIRE(answer == 42)") == 1);
}

TEST_CASE("another summary is imported for the named project", "[history]") {
  const Remembering here;
  const std::string summary = here.sandbox().output() + "/summary.json";
  here.run({"--history", "off", "--json", summary, "--filter", "Fails.require", plugin("fails")});
  here.history({"--import", summary, "--project", "training"});
  CHECK_THAT(here.history({"--json"}), Contains("\"project\": \"training\"") || Contains("\"project\":\"training\""));
}

TEST_CASE("timeouts are suggested for tests that have passed five times", "[history]") {
  const Remembering here;
  const Texts arguments = {"--filter", "Passes.trivial", plugin("passes")};
  for (int i = 0; i < 4; ++i) here.run(arguments);
  CHECK(here.run({"history", "--suggest-timeouts"}).exit_code == kNothingRan);
  here.run(arguments);
  CHECK_THAT(here.history({"--suggest-timeouts"}),
             Contains("10s") && Contains("Passes.trivial") && Contains("the default of 5m is 30 times as long"));
}

TEST_CASE("invalid options of history are refused with advice", "[history]") {
  const Remembering here;
  const std::vector<std::pair<Texts, std::string>> refused = {{{"--since", "7"}, "7d"},
                                                              {{"--since", "soon"}, "--since"},
                                                              {{"--since", "-1d"}, "--since"},
                                                              {{"--limit", "-1"}, "--limit"},
                                                              {{"--color", "purple"}, "never"},
                                                              {{"--import", "x", "--json"}, "--import"},
                                                              {{"--history", "off"}, "DISTRUN_HISTORY"},
                                                              {{"Ring.\\"}, "escapes nothing"},
                                                              {{"--no-such-option"}, "--no-such-option"}};
  for (const auto& [arguments, part] : refused) {
    Texts all = arguments;
    all.insert(all.begin(), "history");
    const Ended ended = here.run(all);
    INFO(arguments.front() << " said: " << ended.err);
    CHECK(ended.exit_code == kUsage);
    CHECK_THAT(ended.err, Contains(part));
  }
  here.run({"--filter", "Passes.trivial", plugin("passes")});
  CHECK(here.run({"history", "NoSuch.test"}).exit_code == kNothingRan);
  write_file(here.path(), std::string(5000, 'x'));
  const Ended broken = here.run({"history"});
  CHECK(broken.exit_code == kInfraError);
  CHECK_THAT(broken.err, Contains("not a database") && Contains(here.path()));
}

TEST_CASE("two projects with equal test ids have separate histories", "[history]") {
  const Remembering remembering;
  const Scratch scratch;
  const std::string place = fs::canonical(scratch.path()).string();
  // The same plugin in two repositories, and again in a clone of the second that passes --project.
  for (const char* name : {"one", "two", "clone"}) {
    fs::create_directories(place + "/" + name + "/.git");
    fs::copy_file(plugin("fails"), place + "/" + name + "/tests.so");
  }
  const auto run = [&](const std::string& name, Texts more) {
    Texts arguments{"--filter", "Fails.require", place + "/" + name + "/tests.so"};
    arguments.insert(arguments.begin(), more.begin(), more.end());
    CHECK(remembering.run(arguments).exit_code == 1);
  };
  run("one", {});
  run("two", {});
  run("two", {});
  run("clone", {"--project", place + "/two"});
  const std::string table = remembering.history();
  CHECK(count_of(table, "Fails.require") == 2);
  CHECK_THAT(table, Contains(place + "/one") && Contains(place + "/two"));
  const std::string one = remembering.history({"--project", place + "/one", "--json", "Fails.require"});
  CHECK(count_of(one, "\"run_id\"") == 1);
  const std::string two = remembering.history({"--project", place + "/two", "--json", "Fails.require"});
  CHECK(count_of(two, "\"run_id\"") == 3);
  CHECK(remembering.run({"history", "--project", "none"}).exit_code == kNothingRan);
  // Both in one run: each plugin is filed under its own project.
  remembering.run({"--filter", "Fails.require", place + "/one/tests.so", place + "/two/tests.so"});
  const auto results_of = [&](const std::string& name) {
    return count_of(remembering.history({"--project", place + name, "--json", "Fails.require"}), "\"run_id\"");
  };
  CHECK(results_of("/one") == 2);
  CHECK(results_of("/two") == 4);
  const std::string odd = "\x1b[2J\xff";  // valid neither for a terminal nor as UTF-8
  run("one", {"--project", odd});
  const std::string all = remembering.history();
  CHECK(count_of(all, "Fails.require") == 3);
  CHECK_THAT(all, Contains("\\x1b[2J") && !Contains("\x1b"));
  CHECK(count_of(remembering.history({"--project", odd, "--json", "Fails.require"}), "\"run_id\"") == 1);
}
