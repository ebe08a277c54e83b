#pragma once
// Makes the Catch2 test cases of a plugin tests of distrun. One source of the plugin, in place of the
// one with CATCH_CONFIG_MAIN, says
//
//   #include <distrun/catch2.hpp>
//   DISTRUN_CATCH2_PLUGIN(.world_size = fixed(2), .timeout = 30s);
//
// and the others stay as they are. Each rank runs a test case by Catch2 itself: all of its sections,
// with its generators. A test case knows its rank by distrun::this_rank(), from
// <distrun/test.hpp>.
//
// Ids: the suite is the class of a TEST_CASE_METHOD, else the file's name without its extension; the
// name is the test case's with '_' for spaces, and %XX for what an id cannot hold. Where two names
// would become one, a space is %20. `distrun list` shows Catch2's own name, and the tags. Hidden
// test cases are listed with DISTRUN_CATCH2_HIDDEN=1 in the environment only.
//
// Options hold for all; DISTRUN_SUITE(file_name, .timeout = 5s) gives one suite others, and the tags
// [world_size=3] and [timeout=10s] one test case. This source has the whole implementation of
// Catch2 in it, so it takes some seconds to compile. For Catch2 2.13; version 3 has another interface.
#if defined(TWOBLUECUBES_SINGLE_INCLUDE_CATCH_HPP_INCLUDED)
#error "include <distrun/catch2.hpp> before <catch2/catch.hpp>, in one source of the plugin"
#elif defined(CATCH_CONFIG_MAIN)
#error "a plugin has no main(): leave CATCH_CONFIG_MAIN out"
#elif !__has_include(<catch2/catch.hpp>)
#error "<distrun/catch2.hpp> needs Catch2 2.13 (<catch2/catch.hpp>); version 3 has another interface"
#endif

#include <distrun/plugin/bridge/catch2_tests.hpp>
#include <distrun/plugin/sdk/bridge.hpp>
#include <distrun/test.hpp>

// Makes the Catch2 test cases of this plugin tests of distrun, with options for all of them (TestOptions). Write it
// once, at namespace scope, in one source of the plugin.
#define DISTRUN_CATCH2_PLUGIN(...)                                                                                   \
  namespace {                                                                                                        \
  [[maybe_unused]] const bool distrun_catch2_declared = ::distrun::detail::declare(::distrun::detail::TestFramework{ \
      DISTRUN_DETAIL_OPTIONS(__VA_ARGS__), ::distrun::detail::catch2::declared_tests});                              \
  }                                                                                                                  \
  static_assert(true, "a semicolon belongs here")
