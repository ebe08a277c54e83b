#pragma once
// What a plugin declares, in order of declaration. Written while the plugin is loaded, then read.
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
  // Adds the tests of the frameworks that were added since the last time. Throws what they throw.
  void load_frameworks();

  const std::vector<TestDeclaration>& tests() const noexcept { return tests_; }
  const std::vector<SuiteDeclaration>& suites() const noexcept { return suites_; }
  const std::vector<SuiteFixtureDeclaration>& suite_fixtures() const noexcept { return suite_fixtures_; }
  // The first of that name; null if there is none. Of bridged tests, which have one declaration for
  // each element, the one with that element.
  const TestDeclaration* find_test(std::string_view suite, std::string_view name, std::string_view element = "") const;
  const SuiteDeclaration* find_suite(std::string_view suite) const noexcept;
  const SuiteFixtureDeclaration* find_suite_fixture(std::string_view suite) const noexcept;

  // The test's own options over those of its suite, and these over those of its plugin. Throws
  // whatever evaluating them throws.
  TestOptions options_of(const TestDeclaration& test) const;

 private:
  std::vector<TestDeclaration> tests_;
  std::vector<SuiteDeclaration> suites_;
  std::vector<TestFramework> frameworks_;
  bool has_frameworks_ = false;
  std::vector<SuiteFixtureDeclaration> suite_fixtures_;
};

// The plugin's own.
Registry& registry();

// Throws Error{InvalidArgument} if no backend or no agent suits both.
TestOptions merged(TestOptions suite, TestOptions test);

}  // namespace distrun::detail
