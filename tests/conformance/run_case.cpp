#include "run_case.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

namespace distrun::testing {

const TestResult& CaseRun::test(const std::string& id) const {
  const TestResult* found = summary.find(id);
  INFO("the test " << id << "; the console got " << console());
  REQUIRE(found != nullptr);
  return *found;
}

const AttemptResult& CaseRun::attempt(const std::string& id) const {
  const TestResult& found = test(id);
  INFO(id << " came to " << found.verdict << ": " << found.message);
  REQUIRE(found.attempts.size() == 1);
  return found.attempts.front();
}

std::string cases_plugin() { return DISTRUN_CASES; }

std::string bound(int length_ms) { return std::to_string(scaled(milliseconds(length_ms)).count()) + "ms"; }

namespace {

// Keeps the summary of each way to run a suite, for the count of tested rows (scripts/conformance-rows).
void keep_summary(const Sandbox& sandbox, const std::string& plugin, const Texts& filters, const Texts& arguments) {
  const char* const folder = std::getenv("DISTRUN_KEPT_SUMMARIES");
  if (folder == nullptr || filters != Texts{"*"}) return;
  std::string name = std::filesystem::path(plugin).stem();
  for (const std::string& argument : arguments) name += "_" + argument;
  std::replace(name.begin(), name.end(), '/', '_');
  std::filesystem::create_directories(folder);
  std::filesystem::copy_file(sandbox.output() + "/summary.json", std::string(folder) + "/" + name + ".json",
                             std::filesystem::copy_options::overwrite_existing);
}

}  // namespace

CaseRun run_tests(const std::string& plugin, const Texts& filters, const Texts& arguments) {
  const Sandbox sandbox(DISTRUN_BIN);
  Texts all{"run", "--output", sandbox.output()};
  for (const std::string& filter : filters) all.insert(all.end(), {"--filter", filter});
  all.insert(all.end(), arguments.begin(), arguments.end());
  all.push_back(plugin);
  CaseRun run;
  run.ended = sandbox.run(all, milliseconds(60'000));
  INFO("the console got " << run.console());
  REQUIRE_FALSE(run.ended.out_of_time);
  run.summary = sandbox.summary();
  keep_summary(sandbox, plugin, filters, arguments);
  run.events = read_file(sandbox.output() + "/events.ndjson");
  run.remains = sandbox.remains();
  CHECK(run.remains.empty());
  sandbox.sweep();
  return run;
}

CaseRun run_case(const std::string& id, const Texts& arguments) { return run_tests(cases_plugin(), {id}, arguments); }

Texts outcomes_of(const AttemptResult& attempt) {
  Texts outcomes;
  for (const RankResult& rank : attempt.ranks) outcomes.push_back(rank.outcome);
  return outcomes;
}

Texts errors_of(const AttemptResult& attempt) {
  Texts errors;
  for (const RankResult& rank : attempt.ranks) {
    for (const std::string& text : rank.error_texts) {
      errors.push_back("rank " + std::to_string(rank.rank) + ": " + text);
    }
  }
  return errors;
}

}  // namespace distrun::testing
