#pragma once
// Declares GoogleTest's tests, and runs one of them. GoogleTest runs the tests that match its filter; here that is one
// test in a separate process, so all its global state is set once.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <distrun/plugin/bridge/gtest_id.hpp>
#include <distrun/plugin/bridge/gtest_listener.hpp>
#include <distrun/plugin/sdk/bridge.hpp>
#include <distrun/plugin/sdk/declare.hpp>

#ifndef GTEST_FLAG_SET
#error "distrun/gtest.hpp needs GoogleTest 1.12 or later"
#endif

namespace distrun::detail::gtest {

// Overrides the environment: reports, repeats and shards are distrun's. Exceptions are caught, since GoogleTest then
// tears down; crashes are not, so the rank's crash handler sees them.
inline void set_flags() {
  GTEST_FLAG_SET(output, "");
  GTEST_FLAG_SET(stream_result_to, "");
  GTEST_FLAG_SET(list_tests, false);
  GTEST_FLAG_SET(repeat, 1);
  GTEST_FLAG_SET(shuffle, false);
  GTEST_FLAG_SET(fail_fast, false);
  GTEST_FLAG_SET(throw_on_failure, false);
  GTEST_FLAG_SET(catch_exceptions, true);
  GTEST_FLAG_SET(death_test_style, "fast");
  for (const char* name :
       {"GTEST_TOTAL_SHARDS", "GTEST_SHARD_INDEX", "GTEST_SHARD_STATUS_FILE", "TEST_PREMATURE_EXIT_FILE"}) {
    ::unsetenv(name);
  }
}

// Sets the command line that GoogleTest believes its program has. A death test of the style "threadsafe" runs it again,
// with the number of a pipe at the end of an argument. A rank cannot be started again, and any other program that dies
// might pass. So this command reports on the pipe that it lives, and prints why.
inline void initialize() {
  std::string words[] = {"/bin/sh", "-c",
                         "for word; do case $word in --gtest_internal_run_death_test=*) pipe=${word##*|};; esac; "
                         "done\necho 'distrun cannot restart a rank for death tests of the style \"threadsafe\"; set "
                         "the style \"fast\"' >&2\n[ -n \"$pipe\" ] && printf L > /proc/self/fd/$pipe",
                         "rank"};
  char* arguments[] = {words[0].data(), words[1].data(), words[2].data(), words[3].data(), nullptr};
  int count = 4;
  ::testing::InitGoogleTest(&count, arguments);
}

// GoogleTest's random_seed() comes from the run's seed, the same on all ranks.
inline void run_test(Rank& rank, const std::string& full_name) {
  constexpr std::uint64_t kSeeds = 99999;  // GoogleTest's own range is 1 to 99999
  GTEST_FLAG_SET(random_seed, static_cast<int>(rank.shared_seed() % kSeeds + 1));
  GTEST_FLAG_SET(filter, filter_for(full_name));
  GTEST_FLAG_SET(also_run_disabled_tests, true);
  ::testing::UnitTest& all = *::testing::UnitTest::GetInstance();
  ::testing::TestEventListeners& listeners = all.listeners();
  delete listeners.Release(listeners.default_result_printer());
  auto* const listener = new RankListener(rank, full_name);
  listeners.Append(listener);
  const bool passed = all.Run() == 0;
  const std::unique_ptr<RankListener> ours(static_cast<RankListener*>(listeners.Release(listener)));
  ours->conclude(passed);
}

inline TestOptions options_of_disabled() {
  return {.skip = {skip_if(true, "its name begins with DISABLED_; GTEST_ALSO_RUN_DISABLED_TESTS=1 runs it")}};
}

inline TestDeclaration declaration_of(const ::testing::TestInfo& test) {
  Id id = id_of(test);
  const bool is_skipped = is_disabled(test) && !GTEST_FLAG_GET(also_run_disabled_tests);
  TestDeclaration declaration;
  declaration.suite = std::move(id.suite);
  declaration.name = std::move(id.name);
  declaration.where = {test.file() == nullptr ? "" : test.file(), static_cast<std::uint32_t>(std::max(test.line(), 0))};
  declaration.options = [is_skipped] { return is_skipped ? options_of_disabled() : TestOptions{}; };
  declaration.has_fixture = true;
  declaration.bridged = BridgedTest{.run = [full_name = full_name_of(test)](Rank& rank) { run_test(rank, full_name); },
                                    .defaults = {},
                                    .element = std::move(id.element),
                                    .description = description_of(test)};
  return declaration;
}

inline std::vector<TestDeclaration> declared_tests() {
  set_flags();
  initialize();
  std::vector<TestDeclaration> tests;
  const ::testing::UnitTest& all = *::testing::UnitTest::GetInstance();
  for (int i = 0; i < all.total_test_suite_count(); ++i) {
    const ::testing::TestSuite& suite = *all.GetTestSuite(i);
    for (int j = 0; j < suite.total_test_count(); ++j) {
      tests.push_back(declaration_of(*suite.GetTestInfo(j)));
    }
  }
  return tests;
}

}  // namespace distrun::detail::gtest
