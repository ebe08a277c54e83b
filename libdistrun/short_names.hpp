#pragma once
// Short names for the checks, for test files that use no other framework with these names.
#include <distrun/test.hpp>

// Is DISTRUN_EXPECT.
#define CHECK(...) DISTRUN_DETAIL_CHECK(Expect, "CHECK", #__VA_ARGS__, __VA_ARGS__)
// Is DISTRUN_REQUIRE.
#define REQUIRE(...) DISTRUN_DETAIL_CHECK(Require, "REQUIRE", #__VA_ARGS__, __VA_ARGS__)
// Is DISTRUN_EXPECT_THROWS.
#define CHECK_THROWS(Type, expected, ...) \
  DISTRUN_DETAIL_CHECK_THROWS("CHECK_THROWS", #Type ", " #expected ", " #__VA_ARGS__, Type, expected, __VA_ARGS__)
// Is DISTRUN_EXPECT_CLOSE.
#define CHECK_CLOSE(...) DISTRUN_DETAIL_CHECK_CLOSE("CHECK_CLOSE", #__VA_ARGS__, __VA_ARGS__)
// Is DISTRUN_INFO.
#define INFO(...) DISTRUN_INFO(__VA_ARGS__)
