// Actions at process exit happen in ranks, too: gcov writes its data, the leak sanitizer checks, and exit handlers take
// away what other ranks of the process still use.
#include <catch2/catch.hpp>

#include <filesystem>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "support/sandbox.hpp"

namespace {

using namespace distrun::testing;
namespace fs = std::filesystem;

std::string plugin(const std::string& name) { return std::string(DISTRUN_PLUGIN_DIR) + "/fixture_" + name + ".so"; }

Ended run(const Sandbox& sandbox, std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), {"run", "--output", sandbox.output(), "--color", "never"});
  arguments.insert(arguments.end(), {"--timeout-scale", std::to_string(4 * time_scale())});
  Command command = sandbox.command(std::move(arguments));
  // Removes the tests' sanitizer options, so that the sanitizer behaves as for users.
  std::erase_if(command.environment, [](const std::string& each) { return each.starts_with("ASAN_OPTIONS="); });
  const Ended ended = Running(std::move(command)).wait(scaled(milliseconds(60'000)));
  CHECK_FALSE(ended.out_of_time);
  for (const std::string& left : sandbox.remains()) FAIL_CHECK(left);
  return ended;
}

#define EVERY_ISOLATION \
  GENERATE(std::string("process"), std::string("exec"), std::string("pool"), std::string("threads"))

}  // namespace

TEST_CASE("gcov counts the bodies of ranks in every isolation", "[exit]") {
  const std::string isolation = EVERY_ISOLATION;
  INFO("isolation " << isolation);
  const Sandbox sandbox(DISTRUN_BIN);
  const fs::path object = DISTRUN_COVERED_OBJECT;
  const fs::path data = fs::path(sandbox.output()) / "data";
  const Ended ended =
      run(sandbox, {"--isolation", isolation, "--env", "GCOV_PREFIX=" + data.string(), plugin("covered")});
  INFO("the console got: " << ended.out << ended.err);
  CHECK(ended.exit_code == 0);
  const fs::path counted = fs::path(data.string() + object.string()).replace_extension(".gcda");
  REQUIRE(fs::exists(counted));
  fs::copy_file(fs::path(object).replace_extension(".gcno"), fs::path(counted).replace_extension(".gcno"));
  Command gcov;
  gcov.program = DISTRUN_GCOV;
  gcov.arguments = {"--stdout", counted.string()};
  gcov.directory = data.string();
  gcov.capture = (data / "gcov").string();
  const Ended told = Running(gcov).wait(scaled(milliseconds(30'000)));
  INFO("gcov says: " << told.out << told.err);
  std::string counts;
  std::istringstream lines(told.out);
  for (std::string line; std::getline(lines, line);) {
    if (line.find("// counted") != std::string::npos) counts = line.substr(0, line.find_first_of("*:"));
  }
  CHECK_THAT(counts, Catch::EndsWith(" 4"));  // one per rank
}

#ifndef DISTRUN_HAS_ASAN  // ASan ends the process in its own way

TEST_CASE("a crash of a rank because another of its process called exit() is reported as a consequence", "[exit]") {
  const Sandbox sandbox(DISTRUN_BIN);
  const Ended ended =
      run(sandbox, {"--isolation", "threads", "--filter", "Exits.under_a_rank_that_works", plugin("exits")});
  INFO("the console got: " << ended.out << ended.err);
  CHECK(ended.exit_code == 1);
  const Summary summary = sandbox.summary();
  const TestResult* test = summary.find("Exits.under_a_rank_that_works");
  REQUIRE(test != nullptr);
  const AttemptResult& attempt = test->attempts.at(0);
  CHECK(attempt.culprits == std::vector<int>{1});
  CHECK_THAT(attempt.message, Catch::Contains("rank 1 exited with code 5 without a result"));
  const RankResult& rank = attempt.ranks.at(0);
  CHECK(rank.outcome == "lost");
  CHECK(rank.because_of == 1);
  CHECK_THAT(rank.reason, Catch::Contains("it crashed by signal 11 (SIGSEGV) after rank 1 had called exit()"));
  REQUIRE(rank.error_texts.size() == 1);
  CHECK_THAT(rank.error_texts.front(), Catch::Contains("use_what_is_taken_away"));
}

#endif

#ifdef DISTRUN_HAS_ASAN

TEST_CASE("memory that a rank has lost fails its test in every isolation, and distrun itself loses none", "[exit]") {
  const std::string isolation = EVERY_ISOLATION;
  INFO("isolation " << isolation);
  const Sandbox sandbox(DISTRUN_BIN);
  const Ended ended = run(sandbox, {"--isolation", isolation, plugin("loses_memory")});
  INFO("the console got: " << ended.out << ended.err);
  CHECK(ended.exit_code == 1);
  const Summary summary = sandbox.summary();
  REQUIRE(summary.find("LosesNothing.at_all") != nullptr);
  CHECK(summary.find("LosesNothing.at_all")->verdict == "pass");
  const TestResult* loses = summary.find("LosesMemory.of_rank_1");
  REQUIRE(loses != nullptr);
  CHECK(loses->verdict == "crash");
  CHECK(loses->attempts.at(0).phase == "exit");
  CHECK_THAT(loses->message, Catch::Contains("in exit, after its body had passed") && Catch::Contains("1234 byte(s)") &&
                                 Catch::Contains("loses_memory.cpp:"));
}

TEST_CASE("ranks that exit quickly do not check for lost memory", "[exit]") {
  const Sandbox sandbox(DISTRUN_BIN);
  CHECK(run(sandbox, {"--exit", "quick", plugin("loses_memory")}).exit_code == 0);
}

#endif
