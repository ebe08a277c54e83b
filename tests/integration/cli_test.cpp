// The command line: lists, filters, options, exit codes.
#include <catch2/catch.hpp>

#include <algorithm>
#include <cstdlib>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "compare.hpp"
#include "fixtures/expected.hpp"
#include "programs.hpp"

namespace {

using namespace distrun::testing;
using Catch::Contains;

Texts lines_of(const std::string& text) {
  std::istringstream in(text);
  Texts lines;
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

// Returns the first word of each line: a test id has no blanks, and more text may follow it.
Texts first_words(const std::string& text) {
  Texts words = lines_of(text);
  for (std::string& line : words) line = line.substr(0, line.find(' '));
  return words;
}

// A run with --output, and its summary.
struct Run {
  Ended ended;
  Summary summary;
};
Run run(const Sandbox& sandbox, Texts arguments) {
  arguments.insert(arguments.begin(), {"run", "--output", sandbox.output()});
  const Ended ended = sandbox.run(std::move(arguments));
  INFO("the console got: " << ended.out << ended.err);
  REQUIRE_FALSE(ended.out_of_time);
  Run result{ended, sandbox.summary()};
  CHECK(result.summary.exit_code == ended.exit_code);
  return result;
}

std::set<std::string> ids_of(const Summary& summary) {
  std::set<std::string> ids;
  for (const TestResult& test : summary.tests) ids.insert(test.id);
  return ids;
}

std::string note_of(const Summary& summary, const std::string& test, const std::string& key) {
  const TestResult* result = summary.find(test);
  if (result == nullptr || result->attempts.empty()) return "no such test";
  const auto& notes = result->attempts.front().ranks.front().notes;
  const auto note = notes.find(key);
  return note == notes.end() ? "no such note" : note->second;
}

}  // namespace

// ---- list and show

TEST_CASE("list prints the id of each test, in order of declaration", "[cli]") {
  const Sandbox sandbox(distrun_program());
  const Ended ended = sandbox.run({"list", plugin("fails")});
  CHECK(ended.exit_code == 0);
  Texts wanted;
  for (const auto& row : distrun::fixtures::fails_group().rows) wanted.push_back(row.test);
  CHECK(first_words(ended.out) == wanted);
  CHECK(sandbox.remains().empty());
}

TEST_CASE("list --json is one JSON document with each test", "[cli]") {
  const Sandbox sandbox(distrun_program());
  const Ended ended = sandbox.run({"list", "--json", plugin("passes"), plugin("skips")});
  CHECK(ended.exit_code == 0);
  CHECK(wrong_with_json(ended.out) == "");
  CHECK_THAT(ended.out, Contains("Passes.parameters/dtype=f32,count=4096"));
  CHECK_THAT(ended.out, Contains("SkipsEarly.world_size"));
}

TEST_CASE("list takes filters and world sizes as run does", "[cli]") {
  const Sandbox sandbox(distrun_program());
  const Ended ended = sandbox.run({"list", "--filter", "Passes.world_of_?", plugin("passes")});
  CHECK(first_words(ended.out) == Texts{"Passes.world_of_1", "Passes.world_of_2", "Passes.world_of_3"});
}

TEST_CASE("list names a plugin that cannot be listed, and lists the others", "[cli]") {
  const Sandbox sandbox(distrun_program());
  const Ended ended = sandbox.run({"list", plugin("load_crash"), plugin("flaky")});
  CHECK(ended.exit_code == 3);
  CHECK_THAT(ended.err, Contains("fixture_load_crash.so") && Contains("signal 11"));
  CHECK_THAT(ended.out, Contains("Flaky.fails_once"));
}

TEST_CASE("thousands of tests are listed and selected quickly", "[cli]") {
  const Sandbox sandbox(distrun_program());
  const Ended ended = sandbox.run({"list", plugin("load_many")});
  CHECK(lines_of(ended.out).size() == 5000);
  const Run chosen = run(sandbox, {"--filter", "LoadMany.cell/row=7,column=*", plugin("load_many")});
  CHECK(chosen.ended.exit_code == 0);
  CHECK(chosen.summary.tests.size() == 50);
  CHECK(chosen.ended.duration < scaled(milliseconds(5000)));
}

TEST_CASE("show prints the same text of failures as the run", "[cli]") {
  const Sandbox sandbox(distrun_program());
  const Run failed = run(sandbox, {"--filter", "Fails.require", plugin("fails")});
  const Ended shown = sandbox.run({"show", sandbox.output() + "/summary.json"});
  CHECK_THAT(failed.ended.out + failed.ended.err, Contains(failed.summary.tests.front().message));
  CHECK_THAT(shown.out, Contains("Fails.require"));
  CHECK_THAT(shown.out, Contains(failed.summary.tests.front().message));
  CHECK(unprintable(shown.out).empty());
}

TEST_CASE("show refuses a file that is not a report", "[cli]") {
  const Sandbox sandbox(distrun_program());
  const std::string path = sandbox.output() + "/other.json";
  for (const char* text : {"", "{", "{}", "[1]", "null", "{\"schema\":\"distrun.summary/99\"}"}) {
    write_file(path, text);
    const Ended ended = sandbox.run({"show", path});
    INFO("a file with " << text << "; it said " << ended.err);
    CHECK(ended.exit_code == 2);
    CHECK_THAT(ended.err, Contains("other.json"));
  }
  const Ended ended = sandbox.run({"show", sandbox.output() + "/nothing.json"});
  CHECK(ended.exit_code == 2);
  CHECK_THAT(ended.err, Contains("nothing.json") && Contains("No such file"));
}

// ---- selection of tests

TEST_CASE("filters select, and a leading minus excludes", "[cli]") {
  const Sandbox sandbox(distrun_program());
  const Run chosen = run(sandbox, {"--filter", "Passes.world_of_*", "--filter", "-*_17", "--filter=-*.world_of_2*",
                                   "--filter", "Passes.trivial", plugin("passes")});
  CHECK(chosen.ended.exit_code == 0);
  CHECK(ids_of(chosen.summary) == std::set<std::string>{"Passes.trivial", "Passes.world_of_1", "Passes.world_of_3"});
}

TEST_CASE("filters with only exclusions select all others", "[cli]") {
  const Sandbox sandbox(distrun_program());
  const Run chosen = run(sandbox, {"--filter", "-Flaky.*_once", "--filter", "-Flaky.fails_always", plugin("flaky")});
  CHECK(ids_of(chosen.summary) == std::set<std::string>{"Flaky.passes"});
}

TEST_CASE("filters that select nothing are named, and the exit code says so", "[cli]") {
  const Sandbox sandbox(distrun_program());
  const Run chosen = run(sandbox, {"--filter", "Pases.*", plugin("passes")});
  CHECK(chosen.ended.exit_code == 4);
  CHECK(chosen.summary.tests.empty());
  CHECK_THAT(chosen.ended.out + chosen.ended.err, Contains("Pases.*"));
}

// ---- exit codes

TEST_CASE("the exit code of a run follows from its tests", "[cli]") {
  struct Example {
    std::string plugin;
    Texts options;
    int exit_code;
  };
  const Example example = GENERATE(values<Example>({
      {"passes", {"--filter", "Passes.trivial"}, 0},
      {"flaky", {"--filter", "Flaky.fails_once", "--retries", "1"}, 0},
      {"flaky", {"--filter", "Flaky.fails_once", "--retries", "1", "--flaky", "fail"}, 1},
      {"flaky", {"--filter", "Flaky.fails_once"}, 1},
      {"fails", {"--filter", "Fails.require"}, 1},
      {"crashes", {"--filter", "Crashes.abort"}, 1},
      {"exits", {"--filter", "Exits.all_with_0"}, 1},
      {"hangs", {"--filter", "Hangs.one_sleeps", "--timeout", "200ms"}, 1},
      {"leaves", {"--filter", "Leaves.child"}, 1},
      {"skips", {"--filter", "Skips.all_for_one_reason"}, 4},
      {"skips", {"--filter", "SkipsEarly.condition"}, 4},
      {"skips", {"--filter", "Skips*.all_for_one_reason", "--skips-pass"}, 0},
      {"skips", {"--filter", "SkipsEarly.condition", "--filter", "SkipsEarly.not_this_one"}, 0},
      {"skips", {"--filter", "SkipsEarly.condition", "--filter", "Skips.one_fails"}, 1},
      {"load_crash", {}, 3},
  }));
  const Sandbox sandbox(distrun_program());
  Texts arguments = example.options;
  arguments.push_back(plugin(example.plugin));
  INFO(example.plugin << " " << (arguments.size() > 1 ? arguments[1] : ""));
  CHECK(run(sandbox, arguments).ended.exit_code == example.exit_code);
  CHECK(sandbox.remains().empty());
}

TEST_CASE("a plugin that cannot be loaded does not keep another's tests from running", "[cli]") {
  const Sandbox sandbox(distrun_program());
  const Run both = run(sandbox, {"--filter", "Fails.require", "--filter", "Flaky.passes", plugin("load_exit"),
                                 plugin("fails"), plugin("flaky")});
  CHECK(both.ended.exit_code == 3);  // takes precedence over 1
  CHECK(both.summary.problems.size() == 1);
  CHECK(ids_of(both.summary) == std::set<std::string>{"Fails.require", "Flaky.passes"});
}

TEST_CASE("skips stay skips when they count as passed", "[cli]") {
  const Sandbox sandbox(distrun_program());
  const Run skipped = run(sandbox, {"--skips-pass", "--filter", "SkipsEarly.condition", plugin("skips")});
  CHECK(skipped.ended.exit_code == 0);
  CHECK(skipped.summary.tests.front().verdict == "skip");
}

TEST_CASE("strict leaks are descriptors and threads too, and name the rank", "[cli]") {
  const Sandbox sandbox(distrun_program());
  const Run strict = run(
      sandbox, {"--leaks", "strict", "--world-size", "2", "--filter", "Leaves.open_descriptor", "--filter",
                "Leaves.running_thread", "--filter", "Leaves.closed_descriptor_and_joined_thread", plugin("leaves")});
  CHECK(strict.ended.exit_code == 1);
  const TestResult* descriptor = strict.summary.find("Leaves.open_descriptor");
  REQUIRE(descriptor != nullptr);
  CHECK(descriptor->verdict == "leak");
  CHECK_THAT(descriptor->message, Catch::Contains("descriptor of rank 1") && Catch::Contains("/dev/zero"));
  const TestResult* thread = strict.summary.find("Leaves.running_thread");
  REQUIRE(thread != nullptr);
  CHECK(thread->verdict == "leak");
  CHECK_THAT(thread->message, Catch::Contains("thread of rank 1"));
  const TestResult* clean = strict.summary.find("Leaves.closed_descriptor_and_joined_thread");
  REQUIRE(clean != nullptr);
  CHECK(clean->verdict == "pass");
}

// ---- attempts

TEST_CASE("a repeated test runs N times, and each attempt counts", "[cli]") {
  const Sandbox sandbox(distrun_program());
  const Run repeated =
      run(sandbox, {"--repeat", "3", "--filter", "Flaky.passes", "--filter", "Flaky.fails_once", plugin("flaky")});
  CHECK(repeated.ended.exit_code == 1);
  const TestResult* passes = repeated.summary.find("Flaky.passes");
  REQUIRE(passes != nullptr);
  REQUIRE(passes->attempts.size() == 3);
  CHECK(passes->verdict == "pass");
  CHECK(passes->attempts[0].kind == "first");
  CHECK(passes->attempts[1].kind == "repeat");
  CHECK(passes->attempts[2].n == 3);
  const TestResult* fails = repeated.summary.find("Flaky.fails_once");
  REQUIRE(fails != nullptr);
  CHECK(fails->verdict == "fail");
  CHECK(fails->attempts.size() == 3);
}

TEST_CASE("a failed test is retried until it passes or retries are used up", "[cli]") {
  const Sandbox sandbox(distrun_program());
  const Run retried = run(sandbox, {"--retries", "2", "--filter", "Flaky.fails_*", plugin("flaky")});
  CHECK(retried.ended.exit_code == 1);
  const TestResult* once = retried.summary.find("Flaky.fails_once");
  const TestResult* always = retried.summary.find("Flaky.fails_always");
  REQUIRE(once != nullptr);
  REQUIRE(always != nullptr);
  CHECK(once->verdict == "flaky");
  REQUIRE(once->attempts.size() == 2);
  CHECK(once->attempts[1].kind == "retry");
  CHECK(always->verdict == "fail");
  CHECK(always->attempts.size() == 3);
}

TEST_CASE("with --fail-fast no test starts after the first failure", "[cli]") {
  const Sandbox sandbox(distrun_program());
  const Run stopped = run(sandbox, {"--fail-fast", plugin("passes"), plugin("fails"), plugin("exits")});
  CHECK(stopped.ended.exit_code == 1);
  int bad = 0;
  for (const TestResult& test : stopped.summary.tests) {
    if (test.attempts.empty()) continue;
    bad += test.verdict == "pass" ? 0 : 1;
  }
  CHECK(bad == 1);
  REQUIRE(stopped.summary.find("Passes.trivial") != nullptr);
  CHECK(stopped.summary.find("Passes.trivial")->verdict == "pass");
}

// ---- settings visible to ranks

TEST_CASE("world size, seed and environment reach the ranks", "[cli]") {
  const Sandbox sandbox(distrun_program());
  SECTION("world size") {
    const Run two = run(sandbox, {"--world-size", "2", "--filter", "Passes.world_of_2_or_4", "--filter",
                                  "Passes.trivial", "--filter", "Passes.world_of_3", plugin("passes")});
    CHECK(two.ended.exit_code == 0);
    CHECK(two.summary.find("Passes.world_of_2_or_4")->attempts.front().ranks.size() == 2);
    CHECK(two.summary.find("Passes.trivial")->attempts.front().ranks.size() == 2);
    CHECK(two.summary.find("Passes.world_of_3")->attempts.front().ranks.size() == 3);
  }
  SECTION("world size that a test does not take") {
    const Run three = run(sandbox, {"--world-size", "3", "--filter", "Passes.world_of_2_or_4", plugin("passes")});
    CHECK(three.ended.exit_code == 4);
    CHECK(three.summary.tests.front().verdict == "skip");
  }
  SECTION("environment") {
    const Run set = run(sandbox, {"--env", "FIXTURE_VALUE=a=b c", "--env", "FIXTURE_EMPTY=", "--filter",
                                  "Promises.user_environment", plugin("passes")});
    CHECK(set.ended.exit_code == 0);
    CHECK(note_of(set.summary, "Promises.user_environment", "FIXTURE_VALUE") == "a=b c");
    CHECK(note_of(set.summary, "Promises.user_environment", "FIXTURE_EMPTY") == "set");
    CHECK(note_of(set.summary, "Promises.user_environment", "agent") == "pipe");
  }
  SECTION("agent, and its faults") {
    const Run faulty =
        run(sandbox, {"--faults", "7:drop:retriable:0.1", "--filter", "Promises.user_environment", plugin("passes")});
    CHECK(note_of(faulty.summary, "Promises.user_environment", "agent") == "faulty");
    CHECK(note_of(faulty.summary, "Promises.user_environment", "DISTRUN_RPC_FAULTS") == "7:drop:retriable:0.1");
  }
  SECTION("transport of RPC") {
    const Run tcp = run(sandbox, {"--rpc-transport", "tcp", "--filter", "Promises.user_environment", plugin("passes")});
    CHECK(note_of(tcp.summary, "Promises.user_environment", "DISTRUN_RPC_TRANSPORT") == "tcp");
  }
}

TEST_CASE("a seed repeats a run, and each run names its seed", "[cli]") {
  const Sandbox sandbox(distrun_program());
  const auto seeds = [&](const Texts& options) {
    Texts arguments = {"--filter", "Passes.seeds", plugin("passes")};
    arguments.insert(arguments.begin(), options.begin(), options.end());
    const Summary summary = run(sandbox, arguments).summary;
    return Texts{std::to_string(summary.seed), note_of(summary, "Passes.seeds", "seed"),
                 note_of(summary, "Passes.seeds", "shared seed")};
  };
  const Texts first = seeds({"--seed", "42"});
  CHECK(first[0] == "42");
  CHECK(seeds({"--seed", "42"}) == first);
  CHECK(seeds({"--seed", "42", "--isolation", "exec"}) == first);
  CHECK(seeds({"--seed", "43"})[1] != first[1]);
  const Texts chosen = seeds({});
  CHECK(seeds({"--seed", chosen[0]}) == chosen);
}

TEST_CASE("timeouts: a test's own wins over the default, the override over both", "[cli]") {
  const Sandbox sandbox(distrun_program());
  const auto duration = [&](const Texts& options) {
    Texts arguments = {"--filter", "Hangs.own_timeout", plugin("hangs")};  // times out after 200 ms
    arguments.insert(arguments.begin(), options.begin(), options.end());
    const Run timed_out = run(sandbox, arguments);
    CHECK(timed_out.summary.tests.front().verdict == "timeout");
    return timed_out.summary.tests.front().attempts.front().duration_ms;
  };
  CHECK(duration({"--timeout", "30s"}) < 200 + 3000);
  const auto overridden = duration({"--timeout", "50ms", "--timeout-override", "900ms"});
  CHECK(overridden >= 900);
  const auto scaled_up = duration({"--timeout-scale", "4"});
  CHECK(scaled_up >= 800);
}

TEST_CASE("leaks are searched unless they are off", "[cli]") {
  const Sandbox sandbox(distrun_program());
  const Run off =
      run(sandbox, {"--leaks", "off", "--filter", "Leaves.mapped_file", "--filter", "Leaves.daemon", plugin("leaves")});
  CHECK(off.ended.exit_code == 0);
  CHECK(off.summary.find("Leaves.mapped_file")->verdict == "pass");
  CHECK(off.summary.find("Leaves.daemon")->verdict == "pass");
  CHECK(sandbox.remains().empty());  // ended nevertheless
  sandbox.sweep();
}

TEST_CASE("kept work directories are named and have the files of the ranks", "[cli]") {
  const Sandbox sandbox(distrun_program());
  const Run kept = run(sandbox, {"--keep-work-dir", "--filter", "Promises.directories", plugin("passes")});
  CHECK(kept.ended.exit_code == 0);
  const Texts remains = sandbox.remains();
  REQUIRE(remains.size() == 1);
  CHECK_THAT(kept.ended.out + kept.ended.err, Contains(remains.front()));
  sandbox.sweep();
}

TEST_CASE("two runs at the same time do not see each other", "[cli][alone]") {
  const Sandbox sandbox(distrun_program());
  const auto command = [&](const std::string& name) {
    Command result = sandbox.command(
        {"run", "--repeat", "5", "--json", sandbox.output() + "/" + name, "--filter", "Passes.*", plugin("passes")});
    result.capture += name;
    return result;
  };
  Running first(command("first"));
  Running second(command("second"));
  const Ended one = first.wait(scaled(milliseconds(30'000)));
  const Ended two = second.wait(scaled(milliseconds(30'000)));
  INFO(one.out << one.err << two.out << two.err);
  CHECK(one.exit_code == 0);
  CHECK(two.exit_code == 0);
  CHECK(sandbox.remains().empty());
}

// ---- the console

TEST_CASE("colours are for terminals, unless they are requested", "[cli]") {
  const Sandbox sandbox(distrun_program());
  const auto console = [&](const Texts& options) {
    Texts arguments = {"--filter", "Fails.require", plugin("fails")};
    arguments.insert(arguments.begin(), options.begin(), options.end());
    const Ended ended = run(sandbox, arguments).ended;
    return ended.out + ended.err;
  };
  CHECK_THAT(console({}), !Contains("\x1b["));
  CHECK_THAT(console({"--color", "never"}), !Contains("\x1b["));
  CHECK_THAT(console({"--color", "always"}), Contains("\x1b["));
}
