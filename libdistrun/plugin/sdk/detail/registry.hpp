#pragma once
// A plugin's declarations, in order. Written while the plugin is loaded, read-only afterwards.
#include <string>
#include <string_view>
#include <vector>

#include <distrun/plugin/sdk/bridge.hpp>
#include <distrun/plugin/sdk/declare.hpp>
#include <distrun/plugin/sdk/suite.hpp>

namespace distrun::detail {

class Registry {
 public:
  void add(TestDeclaration test) { tests_.push_back(std::move(test)); }
  void add(SuiteDeclaration suite) { suites_.push_back(std::move(suite)); }
  void add(TestFramework framework) {
    has_frameworks_ = true;
    frameworks_.push_back(std::move(framework));
  }
  // Other frameworks run one test at a time.
  bool has_frameworks() const noexcept { return has_frameworks_; }
  void add(SuiteFixtureDeclaration fixture) { suite_fixtures_.push_back(std::move(fixture)); }
  // Adds the tests of the frameworks added since the last call. Passes on their exceptions.
  void load_frameworks();

  const std::vector<TestDeclaration>& tests() const noexcept { return tests_; }
  const std::vector<SuiteDeclaration>& suites() const noexcept { return suites_; }
  const std::vector<SuiteFixtureDeclaration>& suite_fixtures() const noexcept { return suite_fixtures_; }
  // Returns the first test of that name; null if not found. For bridged tests, which have one declaration per
  // element, the one with that element.
  const TestDeclaration* find_test(std::string_view suite, std::string_view name, std::string_view element = "") const;
  const SuiteDeclaration* find_suite(std::string_view suite) const noexcept;
  const SuiteFixtureDeclaration* find_suite_fixture(std::string_view suite) const noexcept;

  // Merges the test's options over its suite's, and these over its plugin's. Passes on exceptions of their evaluation.
  TestOptions options_of(const TestDeclaration& test) const;

 private:
  std::vector<TestDeclaration> tests_;
  std::vector<SuiteDeclaration> suites_;
  std::vector<TestFramework> frameworks_;
  bool has_frameworks_ = false;
  std::vector<SuiteFixtureDeclaration> suite_fixtures_;
};

// Returns the plugin's registry.
Registry& registry();

// Throws Error{InvalidArgument} if no backend or no agent suits both.
TestOptions merged(TestOptions suite, TestOptions test);

}  // namespace distrun::detail
