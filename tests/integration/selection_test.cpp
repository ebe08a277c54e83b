// Selection, order and number of tests: --shard, --shuffle, --until-fail, --stress, --rerun-failed, --slow.
#include <catch2/catch.hpp>

#include <algorithm>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "compare.hpp"
#include "programs.hpp"

namespace {

using namespace distrun::testing;
using Catch::Contains;

using Texts = std::vector<std::string>;

struct SelectedRun {
  Ended ended;
  Summary summary;
};

// Runs distrun with --output and checks that the reports are valid.
SelectedRun selected(const Sandbox& sandbox, Texts arguments) {
  arguments.insert(arguments.begin(), {"run", "--output", sandbox.output()});
  const Ended ended = sandbox.run(std::move(arguments));
  INFO("the console got: " << ended.out << ended.err);
  REQUIRE_FALSE(ended.out_of_time);
  CHECK(wrong_with_reports(sandbox) == "");
  SelectedRun result{ended, sandbox.summary()};
  CHECK(result.summary.exit_code == ended.exit_code);
  return result;
}

Texts selected_ids(const Summary& summary) {
  Texts ids;
  for (const TestResult& test : summary.tests) ids.push_back(test.id);
  return ids;
}

// Runs the failing fixtures and returns a copy of the report, since --output is overwritten.
std::string failed_report(const Sandbox& sandbox, Texts arguments) {
  const std::string report = sandbox.temp() + "/failed.json";
  arguments.insert(arguments.begin(), {"run", "--json", report});
  CHECK(sandbox.run(std::move(arguments)).exit_code == 1);
  return report;
}

const Texts kWorlds = {"--filter", "Passes.world_of_*"};

Texts with(const Texts& more, const Texts& arguments) {
  Texts all = more;
  all.insert(all.end(), arguments.begin(), arguments.end());
  return all;
}

void refused(const Texts& arguments, const char* part) {
  const Sandbox sandbox(distrun_program());
  const Ended ended = sandbox.run(with(arguments, {plugin("passes")}));
  CHECK(ended.exit_code == 2);
  CHECK_THAT(ended.err, Contains(part));
}

}  // namespace

TEST_CASE("the shards of a run are disjoint and complete, shuffled or not", "[cli]") {
  const Sandbox sandbox(distrun_program());
  const Texts all = selected_ids(selected(sandbox, with(kWorlds, {plugin("passes")})).summary);
  for (const bool shuffled : {false, true}) {
    std::multiset<std::string> seen;
    for (const char* shard : {"1/2", "2/2"}) {
      Texts arguments = with(kWorlds, {"--shard", shard, plugin("passes")});
      if (shuffled) arguments.emplace_back("--shuffle");
      const SelectedRun part = selected(sandbox, arguments);
      CHECK(part.ended.exit_code == 0);
      for (const std::string& id : selected_ids(part.summary)) seen.insert(id);
    }
    CHECK(seen == std::multiset<std::string>(all.begin(), all.end()));
  }
}

TEST_CASE("list shows the tests in a shard", "[cli]") {
  const Sandbox sandbox(distrun_program());
  const Ended listed = sandbox.run(with({"list"}, with(kWorlds, {"--shard", "1/5", plugin("passes")})));
  CHECK(listed.exit_code == 0);
  CHECK_THAT(listed.out, Catch::StartsWith("Passes.world_of_1 "));
  CHECK(std::count(listed.out.begin(), listed.out.end(), '\n') == 1);
}

TEST_CASE("an empty shard says so and succeeds, and a shard of an empty selection does not", "[cli]") {
  const Sandbox sandbox(distrun_program());
  const SelectedRun empty = selected(sandbox, {"--filter", "Passes.world_of_1", "--shard", "2/2", plugin("passes")});
  CHECK(empty.ended.exit_code == 0);
  CHECK_THAT(empty.ended.out, Contains("shard 2/2 of 1 test is empty"));
  CHECK(empty.ended.err.empty());
  const SelectedRun nothing = selected(sandbox, {"--filter", "No.such", "--shard", "2/2", plugin("passes")});
  CHECK(nothing.ended.exit_code == 4);
  CHECK_THAT(nothing.ended.err, Contains("no test matches"));
  const Ended listed = sandbox.run({"list", "--filter", "Passes.world_of_1", "--shard", "2/2", plugin("passes")});
  CHECK(listed.exit_code == 0);
  CHECK_THAT(listed.err, Contains("shard 2/2 of 1 test is empty"));
}

TEST_CASE("a filter that matches nothing is named, with the nearest tests, by run and by list", "[cli]") {
  const Sandbox sandbox(distrun_program());
  const char* const wanted = "distrun: no test matches --filter Passes.wrold_of_1; did you mean Passes.world_of_1?\n";
  for (const char* const command : {"run", "list"}) {
    const Ended ended = sandbox.run({command, "-f", "Passes.wrold_of_1", plugin("passes")});
    INFO(command);
    CHECK(ended.exit_code == 4);
    CHECK_THAT(ended.err, Contains(wanted));
  }
  const Ended far = sandbox.run({"list", "--json", "-f", "No.such", plugin("passes")});
  CHECK(far.exit_code == 4);
  CHECK(far.err == "distrun: no test matches --filter No.such\n");
}

TEST_CASE("tests are chosen by tags, which list shows", "[cli]") {
  const Sandbox sandbox(distrun_program());
  const Ended small = sandbox.run({"list", "-f", "tag:small & !tag:pair", plugin("passes")});
  CHECK(small.exit_code == 0);
  CHECK(small.out == "Passes.world_of_3  (3 ranks)  small\n");
  const Ended pair =
      sandbox.run({"list", "-f", "tag:pair & np:1-2 & plugin:*passes", plugin("passes"), plugin("fails")});
  CHECK(pair.out == "Passes.world_of_2  (2 ranks)  pair  small\n");
  const Ended json = sandbox.run({"list", "--json", "-f", "suite:Passes & OF_2", plugin("passes")});
  CHECK(json.exit_code == 4);  // upper case counts
  const SelectedRun both = selected(sandbox, {"-j", "2", "-f", "world_of_ & tag:small", plugin("passes")});
  CHECK(selected_ids(both.summary) == Texts{"Passes.world_of_2", "Passes.world_of_3"});
}

TEST_CASE("each test runs with each of several world sizes, unless it fixes its own", "[cli]") {
  const Sandbox sandbox(distrun_program());
  const Texts chosen{"-w", "1,3-4", "-f", "Passes.trivial Passes.world_of_2_or_4 Passes.world_of_2"};
  const SelectedRun all = selected(sandbox, with(chosen, {"--skips-pass", plugin("passes")}));
  CHECK(all.ended.exit_code == 0);
  CHECK_THAT(all.ended.out, Contains("7 tests, world sizes 1,3,4, seed "));
  CHECK(selected_ids(all.summary) ==
        Texts{"Passes.trivial [np=1]", "Passes.world_of_2", "Passes.world_of_2_or_4 [np=1]", "Passes.trivial [np=3]",
              "Passes.world_of_2_or_4 [np=3]", "Passes.trivial [np=4]", "Passes.world_of_2_or_4 [np=4]"});
  for (const TestResult& test : all.summary.tests) {
    const bool suits = test.id != "Passes.world_of_2_or_4 [np=1]" && test.id != "Passes.world_of_2_or_4 [np=3]";
    CHECK(test.verdict == (suits ? "pass" : "skip"));
  }
  const Ended one = sandbox.run(with({"list", "-w", "1-4"}, {"-f", "trivial & np:3", plugin("passes")}));
  CHECK(one.out == "Passes.trivial [np=3]  (3 ranks)\n");
}

TEST_CASE("a test that fails with one of several world sizes is repeated with that one", "[cli]") {
  const Sandbox sandbox(distrun_program());
  const std::string report = failed_report(sandbox, {"-w", "3,4", "-f", "Fails.require", plugin("fails")});
  const Ended shown = sandbox.run({"show", report});
  CHECK_THAT(shown.out, Contains("Fails.require [np=3]") && Contains("--world-size 3 --filter Fails.require --seed"));
  const SelectedRun again = selected(sandbox, {"--rerun-failed", report});
  CHECK(selected_ids(again.summary) == Texts{"Fails.require [np=3]", "Fails.require [np=4]"});
}

TEST_CASE("the history refuses an expression with tags", "[cli]") {
  const Sandbox sandbox(distrun_program());
  const Ended ended = sandbox.run({"history", "tag:slow"});
  CHECK(ended.exit_code == 2);
  CHECK_THAT(ended.err, Contains("the history has no tags and world sizes of tests"));
}

TEST_CASE("a shuffled order is repeated by the seed that the run prints", "[cli]") {
  const Sandbox sandbox(distrun_program());
  const SelectedRun first = selected(sandbox, with(kWorlds, {"--shuffle", plugin("passes")}));
  const std::string seed = std::to_string(first.summary.seed);
  CHECK_THAT(first.ended.out, Contains("shuffled, seed " + seed));
  const SelectedRun again = selected(sandbox, with(kWorlds, {"--shuffle", "--seed", seed, plugin("passes")}));
  CHECK(selected_ids(again.summary) == selected_ids(first.summary));
  std::set<Texts> orders;
  for (const char* other : {"1", "2", "3", "4", "5"}) {
    orders.insert(
        selected_ids(selected(sandbox, with(kWorlds, {"--shuffle", "--seed", other, plugin("passes")})).summary));
  }
  CHECK(orders.size() > 1);
}

TEST_CASE("until-fail runs a test until it fails, or up to the limit", "[cli]") {
  const Sandbox sandbox(distrun_program());
  const SelectedRun passes = selected(sandbox, {"--until-fail=4", "--filter", "Passes.world_of_1", plugin("passes")});
  CHECK(passes.ended.exit_code == 0);
  CHECK(passes.summary.tests.at(0).attempts.size() == 4);
  CHECK_THAT(passes.ended.out, Contains("until it fails, at most 4 times"));
  const SelectedRun fails = selected(sandbox, {"--until-fail", "--filter", "Fails.require", plugin("fails")});
  CHECK(fails.ended.exit_code == 1);
  CHECK(fails.summary.tests.at(0).attempts.size() == 1);
  CHECK_THAT(fails.ended.out, Contains("--until-fail=1000"));  // the command that repeats it
}

TEST_CASE("until-fail is refused with options that contradict it", "[cli]") {
  refused({"--until-fail", "--repeat", "3"}, "--until-fail=3");
  refused({"--until-fail", "--retries", "1"}, "--retries");
  refused({"--until-fail", "--debug", "0"}, "--debug");
  refused({"--until-fail", "20"}, "--until-fail=20");
  refused({"--until-fail=0"}, "--until-fail 0: expected a number from 1");
  refused({"--until-fail=soon"}, "--until-fail soon");
}

TEST_CASE("failed tests are run again, with the plugins and settings of their run", "[cli]") {
  const Sandbox sandbox(distrun_program());
  const std::string report =
      failed_report(sandbox, {"--filter", "Fails.fail_with_text Passes.world_of_1", "--world-size", "2", "--seed", "99",
                              plugin("fails"), plugin("passes")});
  const SelectedRun again = selected(sandbox, {"--rerun-failed", report});
  CHECK(again.ended.exit_code == 1);
  CHECK(selected_ids(again.summary) == Texts{"Fails.fail_with_text"});
  CHECK(again.summary.seed == 99);
  CHECK(again.summary.tests.at(0).attempts.at(0).ranks.size() == 2);
  CHECK_THAT(read_file(sandbox.output() + "/summary.json"), Contains("\"rerun_failed\": \"" + report + "\""));
  const SelectedRun other = selected(sandbox, {"--rerun-failed", report, "--world-size", "3", plugin("fails")});
  CHECK(other.summary.tests.at(0).attempts.at(0).ranks.size() == 3);  // the command line overrides the report
}

TEST_CASE("missing tests are named, and the others run", "[cli]") {
  const Sandbox sandbox(distrun_program());
  const std::string report = failed_report(sandbox, {"--filter", "Fails.require Fails.expect*", plugin("fails")});
  std::string text = read_file(report);
  for (std::size_t at = 0; (at = text.find("\"require\"", at)) != std::string::npos;) {
    text.replace(at, 9, "\"renamed\"");
  }
  write_file(report, text);
  const SelectedRun again = selected(sandbox, {"--rerun-failed", report});
  CHECK(again.ended.exit_code == 1);
  CHECK_THAT(again.ended.err,
             Contains("warning") && Contains("1 of the tests to rerun no longer exists") && Contains("Fails.renamed"));
  CHECK_FALSE(again.summary.tests.empty());
}

TEST_CASE("a report without failures gives nothing to run again", "[cli]") {
  const Sandbox sandbox(distrun_program());
  selected(sandbox, {"--filter", "Passes.world_of_1", plugin("passes")});
  const Ended again = sandbox.run({"--rerun-failed", sandbox.output() + "/summary.json"});
  CHECK(again.exit_code == 0);
  CHECK_THAT(again.out, Contains("nothing to rerun"));
}

TEST_CASE("a report of a run with problems does not say that all is well", "[cli]") {
  const Sandbox sandbox(distrun_program());
  selected(sandbox, {plugin("load_crash")});
  const Ended again = sandbox.run({"--rerun-failed", sandbox.output() + "/summary.json"});
  CHECK(again.exit_code == 4);
  CHECK_THAT(again.out, Contains("had problems"));
}

TEST_CASE("a file that is not a report is refused by name", "[cli]") {
  const Sandbox sandbox(distrun_program());
  const Ended gone = sandbox.run({"--rerun-failed", "gone.json"});
  CHECK(gone.exit_code == 2);
  CHECK_THAT(gone.err, Contains("gone.json"));
  for (const std::string& path : {sandbox.temp(), std::string("/dev/zero")}) {
    const Ended no_file = sandbox.run({"--rerun-failed", path});
    CHECK(no_file.exit_code == 2);
    CHECK_THAT(no_file.err, Contains(path) && Contains("not a regular file"));
  }
  write_file(sandbox.temp() + "/empty.json", "");
  CHECK_THAT(sandbox.run({"show", sandbox.temp() + "/empty.json"}).err,
             Contains("empty.json") && Contains("not valid JSON"));
  write_file(sandbox.temp() + "/odd.json", "{}");
  const Ended odd = sandbox.run({"--rerun-failed", sandbox.temp() + "/odd.json"});
  CHECK(odd.exit_code == 2);
  CHECK_THAT(odd.err, Contains("odd.json") && Contains("not a summary"));
}

TEST_CASE("the slowest tests are listed at the end, and by show", "[cli]") {
  const Sandbox sandbox(distrun_program());
  const SelectedRun slow = selected(sandbox, with(kWorlds, {"--slow", "2", plugin("passes")}));
  CHECK_THAT(slow.ended.out, Contains("\nslowest  ") && Contains("before the bodies"));
  const Ended shown = sandbox.run({"show", "--slow", "2", sandbox.output() + "/summary.json"});
  const std::string told = slow.ended.out.substr(slow.ended.out.find("\nslowest"));
  CHECK_THAT(shown.out, Contains(told.substr(0, told.find(" before"))));
  CHECK_THAT(sandbox.run({"show", sandbox.output() + "/summary.json"}).out, !Contains("slowest"));
}

TEST_CASE("a stress run repeats tests side by side and tells how often each failed", "[cli]") {
  const Sandbox sandbox(distrun_program());
  const SelectedRun run = selected(sandbox, {"--stress", "3s", "--jobs", "3", "--filter",
                                             "Passes.world_of_1 | Fails.require", plugin("passes"), plugin("fails")});
  CHECK(run.ended.exit_code == 1);
  CHECK_THAT(run.ended.out, Contains("stress for 3.0 s with load cpu,memory,pause"));
  CHECK_THAT(run.ended.out, Contains("stress of Passes.world_of_1: 0 of "));
  CHECK_THAT(run.ended.out, Contains("runs failed (0 %); P(fail) is at most "));
  CHECK_THAT(run.ended.out, Contains("runs failed (100 %); P(fail) is between "));
  CHECK_THAT(run.ended.out, Contains("(first in attempt "));
  CHECK_THAT(run.ended.out, Contains("--stress 3s --stress-load cpu,memory,pause --jobs 3 --fail-fast"));
  REQUIRE(run.summary.tests.size() == 2);
  for (const TestResult& test : run.summary.tests) CHECK_FALSE(test.attempts.empty());  // the first of each kind
}

TEST_CASE("a stress run ends at the first failure with --fail-fast, and does not repeat a test that skips", "[cli]") {
  const Sandbox sandbox(distrun_program());
  const SelectedRun fails = selected(sandbox, {"--stress", "10m", "--stress-load", "none", "--fail-fast", "--filter",
                                               "Fails.require", plugin("fails")});
  CHECK(fails.ended.exit_code == 1);
  CHECK_THAT(fails.ended.out, Contains("stress of Fails.require: 1 of 1 runs failed (100 %)"));
  const SelectedRun skips = selected(sandbox, {"--stress", "10m", "--stress-load", "none", "--skips-pass", "--filter",
                                               "Skips.all_for_one_reason | SkipsEarly.condition", plugin("skips")});
  CHECK(skips.ended.exit_code == 0);
}

TEST_CASE("stress is refused with options that contradict it", "[cli]") {
  for (const Texts& more :
       {Texts{"--repeat", "3"}, {"--until-fail"}, {"--retries", "1"}, {"--debug", "0"}, {"--trace", "x"}}) {
    refused(with({"--stress", "1m"}, more), "--stress cannot be combined with");
  }
  refused({"--stress", "0"}, "--stress");
  refused({"--stress", "soon"}, "--stress soon");
  refused({"--stress", "1m", "--stress-load", "heat"}, "--stress-load heat");
}

TEST_CASE("the first line of a run names the settings that its tests use or that the user chose", "[cli]") {
  const Sandbox sandbox(distrun_program());
  const auto first_line = [&](Texts arguments) {
    const std::string out = selected(sandbox, with(arguments, {"--skips-pass", "-w", "2"})).ended.out;
    return out.substr(0, out.find('\n'));
  };
  const std::string plain = first_line({"-f", "Passes.trivial", plugin("passes")});
  CHECK_THAT(plain, !Contains("backend") && !Contains("agent"));
  const std::string chosen = first_line({"-f", "Passes.trivial", "--agent", "inproc", plugin("passes")});
  CHECK_THAT(chosen, !Contains("backend") && Contains(", agent inproc,"));
  const std::string of_groups = first_line({"-f", "Groups.of_a_rank_that_dies", plugin("collectives")});
  CHECK_THAT(of_groups, Contains(", backend shm, agent pipe,"));
  const std::string of_rpc = first_line({"-f", "Handlers.one_is_left_running", plugin("passes"), plugin("handlers")});
  CHECK_THAT(of_rpc, !Contains("backend") && Contains(", agent pipe,"));
}
