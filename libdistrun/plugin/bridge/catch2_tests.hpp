#pragma once
// Declares Catch2's test cases, and runs one of them.
#include <distrun/plugin/bridge/catch2_implementation.hpp>

#include <cstdlib>
#include <exception>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <distrun/plugin/bridge/catch2_id.hpp>
#include <distrun/plugin/bridge/catch2_reporter.hpp>
#include <distrun/plugin/sdk/bridge.hpp>
#include <distrun/plugin/sdk/declare.hpp>

namespace distrun::detail::catch2 {

// Adds the test's own listeners.
inline Catch::IStreamingReporterPtr with_listeners(std::unique_ptr<RankReporter> reporter,
                                                   const std::shared_ptr<RankConfig>& config) {
  const auto& listeners = Catch::getRegistryHub().getReporterRegistry().getListeners();
  if (listeners.empty()) return reporter;
  auto all = std::make_unique<Catch::ListeningReporter>();
  for (const auto& listener : listeners) all->addListener(listener->create(Catch::ReporterConfig(config)));
  all->addReporter(std::move(reporter));
  return all;
}

// Random generators have the same seed on all ranks, so that their barriers match.
inline void run_test(Rank& rank, const Catch::TestCase& test) {
  Catch::ConfigData settings;
  settings.name = "distrun";
  settings.rngSeed = static_cast<unsigned>(rank.shared_seed());
  const auto config = std::make_shared<RankConfig>(settings);
  auto reporter = std::make_unique<RankReporter>(rank, *config);
  const RankReporter& ours = *reporter;
  Catch::RunContext context(config, with_listeners(std::move(reporter), config));
  context.testGroupStarting(settings.name, 1, 1);
  const Catch::Totals totals = context.runTest(test);
  context.testGroupEnded(settings.name, totals, 1, 1);
  ours.conclude();
}

// Throws errors of the registration of test cases, such as a reserved tag.
inline void check_registration() {
  for (const std::exception_ptr& error : Catch::getRegistryHub().getStartupExceptionRegistry().getExceptions()) {
    std::rethrow_exception(error);
  }
}

inline TestDeclaration declaration_of(const Catch::TestCase& test, Id id) {
  TestDeclaration declaration;
  declaration.suite = std::move(id.suite);
  declaration.name = std::move(id.name);
  declaration.where = {test.lineInfo.file, static_cast<std::uint32_t>(test.lineInfo.line)};
  declaration.options = [tags = test.tags] { return options_of_tags(tags); };
  declaration.bridged = BridgedTest{.run = [&test](Rank& rank) { run_test(rank, test); },
                                    .defaults = {},
                                    .element = {},
                                    .description = description_of(test)};
  return declaration;
}

// Catch2 itself refuses two test cases with one name.
inline std::vector<TestDeclaration> declared_tests() {
  check_registration();
  const char* asked = std::getenv("DISTRUN_CATCH2_HIDDEN");
  const bool wants_hidden = asked != nullptr && std::string_view(asked) == "1";
  const std::vector<Catch::TestCase>& all = Catch::getAllTestCasesSorted(Catch::Config());
  std::vector<Id> ids = ids_of(all);
  std::vector<TestDeclaration> tests;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (all[i].isHidden() && !wants_hidden) continue;
    tests.push_back(declaration_of(all[i], std::move(ids[i])));
  }
  return tests;
}

}  // namespace distrun::detail::catch2
