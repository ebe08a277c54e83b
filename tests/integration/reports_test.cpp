// The files that a run writes, and the result of a run that cannot write them.
#include <catch2/catch.hpp>

#include <signal.h>

#include <string>

#include "programs.hpp"

namespace {

using namespace distrun::testing;
using Catch::Contains;

}  // namespace

TEST_CASE("reports of good and bad tests are valid", "[reports]") {
  const Sandbox sandbox(distrun_program());
  const std::string name = GENERATE("passes", "fails", "crashes", "exits", "floods", "skips", "load_exit");
  const Ended ended = sandbox.run({"run", "--output", sandbox.output(), "--retries", "1", "--timeout", "5s", "--ctrf",
                                   sandbox.output() + "/ctrf.json", plugin(name)},
                                  milliseconds(60'000));
  INFO(name);
  REQUIRE_FALSE(ended.out_of_time);
  CHECK(wrong_with_reports(sandbox) == "");
}

TEST_CASE("each report is written to its path", "[reports]") {
  const Sandbox sandbox(distrun_program());
  const std::string stem = sandbox.output() + "/";
  const Ended ended =
      sandbox.run({"run", "--json", stem + "a.json", "--junit", stem + "b.xml", "--events", stem + "c.ndjson", "--ctrf",
                   stem + "d.json", "--filter", "Fails.require", plugin("fails")});
  CHECK(ended.exit_code == 1);
  CHECK(read_summary(stem + "a.json").tests.size() == 1);
  CHECK_THAT(read_file(stem + "b.xml"), Contains("<testsuite") && Contains("rank 2 failed"));
  CHECK(wrong_with_events(stem + "c.ndjson") == "");
  CHECK_THAT(read_file(stem + "d.json"), Contains("\"reportFormat\": \"CTRF\"") && Contains("rank 2 failed"));
  CHECK(names_in(sandbox.output()).size() == 4);
  CHECK(sandbox.remains().empty());
}

TEST_CASE("an unseen error of a future is in its rank's report", "[reports]") {
  const Sandbox sandbox(distrun_program());
  const Ended ended =
      sandbox.run({"run", "--output", sandbox.output(), "--filter", "Futures.that_*seen*", plugin("runtime")});
  INFO(ended.out << ended.err);
  CHECK(ended.exit_code == 0);
  const Summary summary = sandbox.summary();
  for (const auto& rank : summary.find("Futures.that_fail_unseen")->attempts.front().ranks) {
    REQUIRE(rank.notes.contains("unseen error"));
    CHECK_THAT(rank.notes.at("unseen error"),
               Contains("futures.cpp:") && Catch::EndsWith("failed: ValueError: a shape is wrong"));
  }
  for (const auto& rank : summary.find("Futures.that_are_all_seen")->attempts.front().ranks) CHECK(rank.notes.empty());
}

TEST_CASE("reports have the names of variables that --env sets, and no values, unless these are asked for",
          "[reports]") {
  const Sandbox sandbox(distrun_program());
  const std::string stem = sandbox.output() + "/";
  const std::vector<std::string> files{stem + "summary.json", stem + "junit.xml", stem + "events.ndjson",
                                       stem + "ctrf.json"};
  std::vector<std::string> words{"--output",   sandbox.output(), "--ctrf",        files[3],       "--env",
                                 "TOKEN=hush", "--filter",       "Fails.require", plugin("fails")};
  CHECK(sandbox.run(words).exit_code == 1);
  for (const std::string& file : files) CHECK_THAT(read_file(file), Contains("TOKEN") && !Contains("hush"));
  const Ended without = sandbox.run({"--rerun-failed", files[0]});
  CHECK(without.exit_code == kUsage);
  CHECK_THAT(without.err, Contains("--env TOKEN: expected KEY=VALUE"));
  CHECK(sandbox.run({"--rerun-failed", files[0], "--env", "TOKEN=hush"}).exit_code == 1);
  words.push_back("--env-values");
  CHECK(sandbox.run(words).exit_code == 1);
  CHECK_THAT(read_file(files[0]), Contains("hush"));
  CHECK(sandbox.run({"--rerun-failed", files[0]}).exit_code == 1);
  CHECK(sandbox.remains().empty());
}

TEST_CASE("a report that cannot be written is an infra error with a sentence", "[reports]") {
  const Sandbox sandbox(distrun_program());
  const std::string option = GENERATE("--json", "--junit", "--events", "--ctrf");
  const std::string path = GENERATE("/dev/full", "/proc/no/such/directory/report");
  const Ended ended = sandbox.run({"run", option, path, "--filter", "Passes.trivial", plugin("passes")});
  INFO(option << " " << path << " said: " << ended.out << ended.err);
  CHECK(ended.exit_code == kInfraError);
  CHECK_THAT(ended.out + ended.err, Contains(path));
  CHECK(sandbox.remains().empty());
}

TEST_CASE("an output directory that cannot be created is refused before any test", "[reports]") {
  const Sandbox sandbox(distrun_program());
  write_file(sandbox.output() + "/file", "x");
  const std::string path = sandbox.output() + "/file/reports";
  const Ended ended = sandbox.run({"run", "--output", path, plugin("passes")});
  INFO(ended.out << ended.err);
  CHECK(ended.exit_code == kUsage);
  CHECK_THAT(ended.err, Contains("--output") && Contains(path));
  CHECK(sandbox.remains().empty());
}

TEST_CASE("a temporary directory that is missing is an infra error with a sentence", "[reports]") {
  const Sandbox sandbox(distrun_program());
  Command command = sandbox.command({"run", plugin("passes")});
  command.environment.push_back("TMPDIR=/no/such/directory");
  std::erase(command.environment, "TMPDIR=" + sandbox.temp());
  const Ended ended = Running(command).wait(scaled(milliseconds(20'000)));
  INFO(ended.out << ended.err);
  CHECK(ended.exit_code == kInfraError);
  CHECK_THAT(ended.out + ended.err, Contains("/no/such/directory"));
}

// Reads an event stream while it is written.
TEST_CASE("events are written when they happen", "[reports]") {
  const Sandbox sandbox(distrun_program());
  const std::string path = sandbox.output() + "/events.ndjson";
  Running running =
      sandbox.start({"run", "--events", path, "--timeout", "60s", "--filter", "Hangs.one_sleeps", plugin("hangs")});
  CHECK(eventually(scaled(milliseconds(5000)),
                   [&] { return read_file(path).find("Hangs.one_sleeps") != std::string::npos; }));
  CHECK_FALSE(running.ends_within(milliseconds(0)));
  running.signal(SIGTERM);
  running.wait(scaled(milliseconds(5000)));
  CHECK(wrong_with_events(path) == "");
  sandbox.sweep();
}
