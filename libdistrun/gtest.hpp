#pragma once
// Makes the GoogleTest tests of a plugin tests of distrun. One source of the plugin says
//
//   #include <distrun/gtest.hpp>
//   DISTRUN_GTEST_PLUGIN(.world_size = fixed(2), .timeout = 30s);
//
// and the others stay as they are. The plugin links gtest, and has no main(). Every TEST, TEST_F,
// TEST_P and TYPED_TEST is listed, and each rank runs it by GoogleTest itself: with its environments,
// its suite's set-up and tear-down, its fixture. A test knows its rank by distrun::this_rank().
//
// Ids: Suite.Test is itself. What parameters add to a name comes after it, as keys: Inst/Suite.Test/3
// is Suite.Test/instance=Inst,param=3, and Suite/0.Test is Suite.Test/type=0. What an id cannot hold
// (of type names that a test chooses) is written as %XX. `distrun list` shows GoogleTest's own name.
//
// Options hold for all tests; DISTRUN_SUITE(Suite, .timeout = 5s) gives one suite others.
// Assertions are counted in sources that include this header, or are compiled with
// -include distrun/gtest.hpp. Needs GoogleTest 1.12 or later.
#include <distrun/plugin/bridge/gtest_assertions.hpp>
#include <distrun/plugin/bridge/gtest_tests.hpp>
#include <distrun/plugin/sdk/bridge.hpp>
#include <distrun/test.hpp>

// Makes the GoogleTest tests of this plugin tests of distrun, with options for all of them (TestOptions). Write it
// once, at namespace scope, in one source of the plugin.
#define DISTRUN_GTEST_PLUGIN(...)                                                                                   \
  namespace {                                                                                                       \
  [[maybe_unused]] const bool distrun_gtest_declared = ::distrun::detail::declare(::distrun::detail::TestFramework{ \
      DISTRUN_DETAIL_OPTIONS(__VA_ARGS__), ::distrun::detail::gtest::declared_tests});                              \
  }                                                                                                                 \
  static_assert(true, "a semicolon belongs here")
