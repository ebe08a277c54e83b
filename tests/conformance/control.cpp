#include "control.hpp"

#include <catch2/catch.hpp>

#include <fstream>
#include <map>
#include <set>
#include <sstream>

namespace distrun::testing {
namespace {

struct Lie {
  std::string name;
  Texts arguments;
  Texts also;  // run before the tests that detect it, for what they leave behind
  std::set<std::string> seen_by;
};

struct Lies {
  std::vector<Lie> all;
  std::map<std::string, std::string> unseen;  // by test: why it detects none
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

Summary run_suite(const ControlledSuite& suite, const Texts& tests, const Texts& arguments, const std::string& lie) {
  const Sandbox sandbox(DISTRUN_BIN);
  // A mutation may make tests hang; otherwise only a busy machine makes them slow.
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

std::set<std::string> expected_tests(const ControlledSuite& suite) {
  std::set<std::string> tests;
  std::ifstream file(suite.expected);
  for (std::string line; std::getline(file, line);) {
    if (!line.empty() && line.front() != '#') tests.insert(line.substr(0, line.find(' ')));
  }
  return tests;
}

// Checks that with this mutation each of these tests runs and does not pass.
void check_seen(const ControlledSuite& suite, const Lie& lie) {
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

void check_list(const ControlledSuite& suite, const Lies& lies) {
  std::set<std::string> unseeing = expected_tests(suite);
  for (const Lie& lie : lies.all) {
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

}  // namespace

void check_list(const ControlledSuite& suite) { check_list(suite, read_lies(suite.lies)); }

void check_control(const ControlledSuite& suite) {
  const Lies lies = read_lies(suite.lies);
  for (const Lie& lie : lies.all) check_seen(suite, lie);
  check_list(suite, lies);
}

void check_honest(const ControlledSuite& suite) {
  for (const TestResult& test : run_suite(suite, {}, {}, "").tests) {
    INFO(test.id << ": " << test.message);
    CHECK((test.verdict == "pass" || test.verdict == "skip"));
  }
}

}  // namespace distrun::testing
