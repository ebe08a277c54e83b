#include <distrun/plugin/sdk/detail/validate.hpp>

#include <map>
#include <set>

#include <distrun/common/base/label.hpp>
#include <distrun/plugin/sdk/detail/names.hpp>

namespace distrun::detail {
namespace {

constexpr int kSignalMax = 64;
constexpr int kExitCodeMax = 255;

std::string place(base::Location where) { return std::string(where.file) + ":" + std::to_string(where.line); }

std::string finding(base::Location where, const std::string& subject, const std::string& flaw) {
  return place(where) + ": " + subject + ": " + flaw;
}

std::string subject_of(const TestDeclaration& test) {
  const std::string name = test.suite + "." + test.name;
  if (!test.bridged || test.bridged->element.empty()) return name;
  return name + "/" + test.bridged->element.to_string();
}
std::string subject_of(const SuiteDeclaration& suite) { return "suite " + suite.suite; }
std::string subject_of(const SuiteFixtureDeclaration& fixture) { return "the fixture of suite " + fixture.suite; }

// Reports each declaration that repeats an earlier subject.
template <class Declaration>
void find_doubles(const std::vector<Declaration>& declarations, std::vector<std::string>& findings) {
  std::map<std::string, base::Location> first;
  for (const Declaration& one : declarations) {
    const auto [before, is_new] = first.emplace(subject_of(one), one.where);
    if (is_new) continue;
    findings.push_back(finding(one.where, subject_of(one), "is declared twice, first at " + place(before->second)));
  }
}

template <class Declaration>
void find_testless(const std::vector<Declaration>& declarations, const std::set<std::string_view>& has_tests,
                   std::vector<std::string>& findings) {
  for (const Declaration& one : declarations) {
    if (has_tests.contains(one.suite)) continue;
    findings.push_back(finding(one.where, subject_of(one), "has no tests"));
  }
}

void find_bad_names(const TestDeclaration& test, std::vector<std::string>& findings) {
  if (const char* flaw = flaw_of_name(test.suite)) {
    findings.push_back(finding(test, "the suite's name '" + test.suite + "' " + flaw));
  }
  if (const char* flaw = flaw_of_name(test.name)) {
    findings.push_back(finding(test, "the test's name '" + test.name + "' " + flaw));
  }
}

void check_world(const WorldSize& world, std::vector<std::string>& flaws) {
  if (world.rule == WorldSize::Rule::AnyOf && world.sizes.empty()) {
    flaws.emplace_back("any_of() has no world size");
  }
  for (const int size : world.sizes) {
    if (size >= 1) continue;
    flaws.push_back("a world size of " + std::to_string(size) + ", but at least 1 rank is required");
  }
}

void check_death(const Death& death, std::vector<std::string>& flaws) {
  if (death.rank < -1) {
    flaws.push_back("may_die has the invalid rank " + std::to_string(death.rank));
  }
  if (death.how == DISTRUN_DEATH_SIGNAL && (death.value < 1 || death.value > kSignalMax)) {
    flaws.push_back("may_die has the invalid signal " + std::to_string(death.value));
  }
  if (death.how == DISTRUN_DEATH_EXIT && (death.value < 0 || death.value > kExitCodeMax)) {
    flaws.push_back("may_die has the invalid exit code " + std::to_string(death.value));
  }
}

}  // namespace

std::vector<std::string> flaws_of_names(const Registry& registry) {
  std::vector<std::string> findings;
  for (const TestDeclaration& test : registry.tests()) find_bad_names(test, findings);
  find_doubles(registry.tests(), findings);
  find_doubles(registry.suites(), findings);
  find_doubles(registry.suite_fixtures(), findings);
  std::set<std::string_view> has_tests;
  for (const TestDeclaration& test : registry.tests()) has_tests.insert(test.suite);
  find_testless(registry.suites(), has_tests, findings);
  find_testless(registry.suite_fixtures(), has_tests, findings);
  return findings;
}

std::vector<std::string> flaws_of_options(const TestOptions& options) {
  std::vector<std::string> flaws;
  if (options.world_size) check_world(*options.world_size, flaws);
  if (options.timeout.count() < 0) flaws.emplace_back("its timeout is negative");
  if (options.devices < 0) flaws.emplace_back("its number of devices is negative");
  for (const Death& death : options.may_die) check_death(death, flaws);
  for (const std::string& flaw : {base::flaw_of_tags(options.tags), base::flaw_of_locks(options.locks)}) {
    if (!flaw.empty()) flaws.push_back(flaw);
  }
  return flaws;
}

std::string finding(const TestDeclaration& test, const std::string& flaw) {
  return finding(test.where, subject_of(test), flaw);
}

}  // namespace distrun::detail
