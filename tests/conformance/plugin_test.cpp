// The conformance suite itself: it lists what expected_tests.txt says, each test passes in each isolation in which it
// can run, and its tests fail with a wrong environment.
#include <catch2/catch.hpp>

#include <cstdlib>
#include <fstream>
#include <map>
#include <set>
#include <sstream>

#include "run_case.hpp"

namespace {

using namespace distrun::testing;

const Texts kIsolations{"process", "exec", "pool", "threads"};

// Maps each test to the isolations in which it runs; in the others it is skipped.
std::map<std::string, std::set<std::string>> expected_tests() {
  std::map<std::string, std::set<std::string>> tests;
  std::ifstream file(DISTRUN_HARNESS_EXPECTED);
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line.front() == '#') continue;
    std::istringstream words(line);
    std::string id;
    words >> id;
    std::set<std::string>& isolations = tests[id];
    for (std::string word; words >> word;) isolations.insert(word);
    if (isolations.empty()) isolations.insert(kIsolations.begin(), kIsolations.end());
  }
  return tests;
}

std::int64_t checks_of(const TestResult& test) {
  std::int64_t checks = 0;
  for (const AttemptResult& attempt : test.attempts) {
    for (const RankResult& rank : attempt.ranks) checks += rank.checks;
  }
  return checks;
}

}  // namespace

TEST_CASE("the harness suite lists the expected tests", "[suite]") {
  const Sandbox sandbox(DISTRUN_BIN);
  const Ended ended = sandbox.run({"list", DISTRUN_HARNESS});
  std::set<std::string> listed;
  std::istringstream lines(ended.out);
  for (std::string line; std::getline(lines, line);) listed.insert(line.substr(0, line.find(' ')));
  std::set<std::string> wanted;
  for (const auto& [id, isolations] : expected_tests()) wanted.insert(id);
  CHECK(listed == wanted);
}

TEST_CASE("every test of the harness suite passes in each isolation in which it can run", "[suite]") {
  const std::string isolation = GENERATE(values<std::string>({"process", "exec", "pool", "threads"}));
  const CaseRun run = run_tests(DISTRUN_HARNESS, {"*"}, {"--isolation", isolation});
  for (const auto& [id, isolations] : expected_tests()) {
    const TestResult& test = run.test(id);
    INFO(id << " with " << isolation << ": " << test.message);
    CHECK(test.verdict == (isolations.contains(isolation) ? "pass" : "skip"));
    if (test.verdict == "pass") CHECK(checks_of(test) > 0);
  }
}

TEST_CASE("native stacks are shown in ranks and hosts, with any setting in the shell",
          "[row:env/TORCH_SHOW_CPP_STACKTRACES]") {
  ::setenv("TORCH_SHOW_CPP_STACKTRACES", "0", 1);
  const Texts tests{"Environment.errors_show_native_stacks", "Threads.are_the_ranks_of_one_process"};
  const CaseRun run = run_tests(DISTRUN_HARNESS, tests);
  ::unsetenv("TORCH_SHOW_CPP_STACKTRACES");
  for (const std::string& id : tests) CHECK(run.test(id).verdict == "pass");
}

// A negative control: ranks get wrong environment variables, and their tests must notice.
TEST_CASE("tests of the environment fail if the environment is mutated", "[suite]") {
  Texts mutations;
  for (const char* mutation : {"WORLD_SIZE=7", "BACKEND=none", "INIT_METHOD=file:///nowhere", "TEMP_DIR=/nowhere",
                               "MASTER_ADDR=10.0.0.1", "RANK=99", "MASTER_PORT=0", "TORCH_SHOW_CPP_STACKTRACES=0"}) {
    mutations.insert(mutations.end(), {"--env", mutation});
  }
  const Texts tests{"Environment.settings_of_the_run_are_variables", "Environment.errors_show_native_stacks",
                    "Files.a_new_directory_is_everybodys", "Rendezvous.each_rank_finds_its_place_and_one_port",
                    "SingleProcess.is_a_world"};
  const CaseRun run = run_tests(DISTRUN_HARNESS, tests, mutations);
  for (const std::string& id : tests) {
    INFO(id);
    CHECK(run.test(id).verdict == "fail");
  }
}
