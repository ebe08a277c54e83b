#include "control.hpp"

#include <catch2/catch.hpp>

#include <fstream>
#include <map>
#include <set>
#include <sstream>

namespace distrun::testing {
namespace {

struct Mutation {
  std::string name;
  Texts arguments;
  Texts also;  // run before the tests that detect it, for what they leave behind
  std::set<std::string> seen_by;
};

struct Mutations {
  std::vector<Mutation> all;
  std::map<std::string, std::string> unseen;  // by test: why it detects none
};

Texts words_of(std::istringstream& line) {
  Texts words;
  for (std::string word; line >> word;) words.push_back(word);
  return words;
}

void read_line(std::istringstream line, Mutations& mutations) {
  std::string word;
  line >> word;
  if (word == "mutation") {
    std::string name;
    std::getline(line >> std::ws, name, ':');
    mutations.all.push_back({name, {}, {}, {}});
  } else if (word == "with") {
    const Texts words = words_of(line);
    mutations.all.back().arguments.insert(mutations.all.back().arguments.end(), words.begin(), words.end());
  } else if (word == "also") {
    mutations.all.back().also = words_of(line);
  } else if (word == "seen") {
    line >> word;
    for (const std::string& id : words_of(line)) mutations.all.back().seen_by.insert(id);
  } else if (word == "unseen") {
    std::string id;
    std::getline(line >> std::ws, id, ':');
    std::getline(line >> std::ws, mutations.unseen[id]);
  }
}

Mutations read_mutations(const std::string& path) {
  Mutations mutations;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) read_line(std::istringstream(line), mutations);
  REQUIRE_FALSE(mutations.all.empty());
  return mutations;
}

Summary run_suite(const ControlledSuite& suite, const Texts& tests, const Texts& arguments,
                  const std::string& mutation) {
  const Sandbox sandbox(DISTRUN_BIN);
  // A mutation may make tests hang; otherwise only a busy machine makes them slow.
  Texts all{"run", "--output", sandbox.output(), "--timeout", mutation.empty() ? "60s" : "20s"};
  all.insert(all.end(), suite.arguments.begin(), suite.arguments.end());
  all.insert(all.end(), arguments.begin(), arguments.end());
  for (const std::string& test : tests) all.insert(all.end(), {"--filter", test});
  all.push_back(suite.plugin);
  Command command = sandbox.command(all);
  command.environment.push_back("DISTRUN_MUTATION=" + mutation);
  if (!suite.libraries.empty()) command.environment.push_back("LD_LIBRARY_PATH=" + suite.libraries);
  const Ended ended = Running(command).wait(scaled(milliseconds(120'000)));
  INFO("the mutation " << mutation << "; the console got " << ended.out << ended.err);
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
void check_seen(const ControlledSuite& suite, const Mutation& mutation) {
  Texts tests(mutation.seen_by.begin(), mutation.seen_by.end());
  tests.insert(tests.end(), mutation.also.begin(), mutation.also.end());
  const Summary summary = run_suite(suite, tests, mutation.arguments, mutation.name);
  for (const std::string& id : mutation.seen_by) {
    const TestResult* test = summary.find(id);
    INFO(id << ", told the mutation " << mutation.name << ", came to "
            << (test != nullptr ? test->verdict : "nothing"));
    REQUIRE(test != nullptr);
    CHECK((test->verdict == "fail" || test->verdict == "crash" || test->verdict == "timeout"));
  }
}

void check_list(const ControlledSuite& suite, const Mutations& mutations) {
  std::set<std::string> unseeing = expected_tests(suite);
  for (const Mutation& mutation : mutations.all) {
    for (const std::string& id : mutation.seen_by) unseeing.erase(id);
  }
  std::set<std::string> excused;
  for (const auto& [id, why] : mutations.unseen) {
    INFO(id);
    CHECK_FALSE(why.empty());
    excused.insert(id);
  }
  CHECK(unseeing == excused);
}

}  // namespace

void check_list(const ControlledSuite& suite) { check_list(suite, read_mutations(suite.mutations)); }

void check_control(const ControlledSuite& suite) {
  const Mutations mutations = read_mutations(suite.mutations);
  for (const Mutation& mutation : mutations.all) check_seen(suite, mutation);
  check_list(suite, mutations);
}

void check_honest(const ControlledSuite& suite) {
  for (const TestResult& test : run_suite(suite, {}, {}, "").tests) {
    INFO(test.id << ": " << test.message);
    CHECK((test.verdict == "pass" || test.verdict == "skip"));
  }
}

}  // namespace distrun::testing
