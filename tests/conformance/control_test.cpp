// The negative control of each suite: told a lie (lies/NAME.lies), the tests that claim to look there must fail; and
// every test sees some lie, or has its reason.
#include <catch2/catch.hpp>

#include <fstream>
#include <map>
#include <set>
#include <sstream>

#include "run_case.hpp"

namespace {

using namespace distrun::testing;

struct Lie {
  std::string name;
  Texts arguments;
  Texts also;  // run before those that see it, for what they leave behind
  std::set<std::string> seen_by;
};

struct Lies {
  std::vector<Lie> all;
  std::map<std::string, std::string> unseen;  // by test: why it sees none
};

Texts words_of(std::istringstream& line) {
  Texts words;
  for (std::string word; line >> word;) words.push_back(word);
  return words;
}

void read_line(std::istringstream line, Lies& lies) {
  std::string word;
  line >> word;
  if (word == "lie") {
    std::string name;
    std::getline(line >> std::ws, name, ':');
    lies.all.push_back({name, {}, {}, {}});
  } else if (word == "with") {
    const Texts words = words_of(line);
    lies.all.back().arguments.insert(lies.all.back().arguments.end(), words.begin(), words.end());
  } else if (word == "also") {
    lies.all.back().also = words_of(line);
  } else if (word == "seen") {
    line >> word;
    for (const std::string& id : words_of(line)) lies.all.back().seen_by.insert(id);
  } else if (word == "unseen") {
    std::string id;
    std::getline(line >> std::ws, id, ':');
    std::getline(line >> std::ws, lies.unseen[id]);
  }
}

Lies read_lies(const std::string& path) {
  Lies lies;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) read_line(std::istringstream(line), lies);
  REQUIRE_FALSE(lies.all.empty());
  return lies;
}

// What a suite is run with.
struct Suite {
  std::string plugin;
  std::string lies;
  std::string expected;  // its expected_tests.txt
  Texts arguments;
  std::string libraries;  // LD_LIBRARY_PATH; empty: as it is
};

Summary run_suite(const Suite& suite, const Texts& tests, const Texts& arguments, const std::string& lie) {
  const Sandbox sandbox(DISTRUN_BIN);
  // A lie may make tests hang; without one, only a machine that has much else to do makes them slow.
  Texts all{"run", "--output", sandbox.output(), "--timeout", lie.empty() ? "60s" : "20s"};
  all.insert(all.end(), suite.arguments.begin(), suite.arguments.end());
  all.insert(all.end(), arguments.begin(), arguments.end());
  for (const std::string& test : tests) all.insert(all.end(), {"--filter", test});
  all.push_back(suite.plugin);
  Command command = sandbox.command(all);
  command.environment.push_back("DISTRUN_LIE=" + lie);
  if (!suite.libraries.empty()) command.environment.push_back("LD_LIBRARY_PATH=" + suite.libraries);
  const Ended ended = Running(command).wait(scaled(milliseconds(120'000)));
  INFO("the lie " << lie << "; the console got " << ended.out << ended.err);
  REQUIRE_FALSE(ended.out_of_time);
  sandbox.sweep();
  return sandbox.summary();
}

std::set<std::string> expected_tests(const Suite& suite) {
  std::set<std::string> tests;
  std::ifstream file(suite.expected);
  for (std::string line; std::getline(file, line);) {
    if (!line.empty() && line.front() != '#') tests.insert(line.substr(0, line.find(' ')));
  }
  return tests;
}

// Told that lie, each of these tests runs and does not pass.
void check_seen(const Suite& suite, const Lie& lie) {
  Texts tests(lie.seen_by.begin(), lie.seen_by.end());
  tests.insert(tests.end(), lie.also.begin(), lie.also.end());
  const Summary summary = run_suite(suite, tests, lie.arguments, lie.name);
  for (const std::string& id : lie.seen_by) {
    const TestResult* test = summary.find(id);
    INFO(id << ", told the lie " << lie.name << ", came to " << (test != nullptr ? test->verdict : "nothing"));
    REQUIRE(test != nullptr);
    CHECK((test->verdict == "fail" || test->verdict == "crash" || test->verdict == "timeout"));
  }
}

void check_control(const Suite& suite) {
  const Lies lies = read_lies(suite.lies);
  std::set<std::string> unseeing = expected_tests(suite);
  for (const Lie& lie : lies.all) {
    check_seen(suite, lie);
    for (const std::string& id : lie.seen_by) unseeing.erase(id);
  }
  std::set<std::string> excused;
  for (const auto& [id, why] : lies.unseen) {
    INFO(id);
    CHECK_FALSE(why.empty());
    excused.insert(id);
  }
  CHECK(unseeing == excused);
}

// With the lies planted, but none told, the suite passes: what fails above fails for the lie.
void check_honest(const Suite& suite) {
  for (const TestResult& test : run_suite(suite, {}, {}, "").tests) {
    INFO(test.id << ": " << test.message);
    CHECK((test.verdict == "pass" || test.verdict == "skip"));
  }
}

const Suite kHarness{DISTRUN_LYING_HARNESS, DISTRUN_LIES "/harness.lies", DISTRUN_HARNESS_EXPECTED, {}, ""};

#ifdef DISTRUN_LYING_RUNTIME
const Suite kTensor{DISTRUN_TENSOR_SUITE,
                    DISTRUN_LIES "/tensor.lies",
                    DISTRUN_TENSOR_SUITE_EXPECTED,
                    {"--gpu-driver", "virtual", "--gpus", "2"},
                    DISTRUN_LYING_RUNTIME};
const Suite kCollectives{DISTRUN_COLLECTIVES_SUITE,
                         DISTRUN_LIES "/collectives.lies",
                         DISTRUN_COLLECTIVES_SUITE_EXPECTED,
                         {"--gpu-driver", "virtual", "--gpus", "4"},
                         DISTRUN_LYING_RUNTIME};
const Suite kRpc{DISTRUN_RPC_SUITE,
                 DISTRUN_LIES "/rpc.lies",
                 DISTRUN_RPC_SUITE_EXPECTED,
                 {"--gpu-driver", "virtual", "--gpus", "2", "--jobs", "4"},
                 DISTRUN_LYING_RUNTIME};
const Suite kRref{
    DISTRUN_RREF_SUITE, DISTRUN_LIES "/rref.lies", DISTRUN_RREF_SUITE_EXPECTED, {"--jobs", "8"}, DISTRUN_LYING_RUNTIME};
const Suite kProfiler{DISTRUN_PROFILER_SUITE,
                      DISTRUN_LIES "/profiler.lies",
                      DISTRUN_PROFILER_SUITE_EXPECTED,
                      {"--gpu-driver", "virtual", "--gpus", "2", "--jobs", "8"},
                      DISTRUN_LYING_RUNTIME};
const Suite kCudaRpc{DISTRUN_CUDA_RPC_SUITE,
                     DISTRUN_LIES "/cuda_rpc.lies",
                     DISTRUN_CUDA_RPC_SUITE_EXPECTED,
                     {"--gpu-driver", "virtual", "--gpus", "4", "--jobs", "8"},
                     DISTRUN_LYING_RUNTIME};
const Suite kDistAutograd{DISTRUN_DIST_AUTOGRAD_SUITE,
                          DISTRUN_LIES "/dist_autograd.lies",
                          DISTRUN_DIST_AUTOGRAD_SUITE_EXPECTED,
                          {"--gpu-driver", "virtual", "--gpus", "4", "--jobs", "8"},
                          DISTRUN_LYING_RUNTIME};
#endif

}  // namespace

#ifdef DISTRUN_LYING_RUNTIME
TEST_CASE("every test of the tensor suite fails where it is lied to", "[suite]") { check_control(kTensor); }
TEST_CASE("the tensor suite with lies that nobody tells passes", "[suite]") { check_honest(kTensor); }
TEST_CASE("every test of the collectives suite fails where it is lied to", "[suite]") { check_control(kCollectives); }
TEST_CASE("the collectives suite with lies that nobody tells passes", "[suite]") { check_honest(kCollectives); }
TEST_CASE("every test of the RPC suite fails where it is lied to", "[suite]") { check_control(kRpc); }
TEST_CASE("the RPC suite with lies that nobody tells passes", "[suite]") { check_honest(kRpc); }
TEST_CASE("every test of the RRef suite fails where it is lied to", "[suite]") { check_control(kRref); }
TEST_CASE("the RRef suite with lies that nobody tells passes", "[suite]") { check_honest(kRref); }
TEST_CASE("every test of the suite of the profiler fails where it is lied to", "[suite]") { check_control(kProfiler); }
TEST_CASE("the suite of the profiler with lies that nobody tells passes", "[suite]") { check_honest(kProfiler); }
TEST_CASE("every test of the CUDA RPC suite fails where it is lied to", "[suite]") { check_control(kCudaRpc); }
TEST_CASE("the CUDA RPC suite with lies that nobody tells passes", "[suite]") { check_honest(kCudaRpc); }
TEST_CASE("every test of the distributed autograd suite fails where it is lied to", "[suite]") {
  check_control(kDistAutograd);
}
TEST_CASE("the distributed autograd suite with lies that nobody tells passes", "[suite]") {
  check_honest(kDistAutograd);
}
#endif

TEST_CASE("every test of the harness suite fails where it is lied to", "[suite]") { check_control(kHarness); }
TEST_CASE("the harness suite with lies that nobody tells passes", "[suite]") { check_honest(kHarness); }
