#pragma once
// Short names for the checks, for test files that use no other framework with these names.
#include <distrun/test.hpp>

#define CHECK(...) DISTRUN_DETAIL_CHECK(expect, "CHECK", #__VA_ARGS__, __VA_ARGS__)
#define REQUIRE(...) DISTRUN_DETAIL_CHECK(require, "REQUIRE", #__VA_ARGS__, __VA_ARGS__)
#define CHECK_THROWS(Type, part, ...) \
  DISTRUN_DETAIL_CHECK_THROWS("CHECK_THROWS", #Type ", " #part ", " #__VA_ARGS__, Type, part, __VA_ARGS__)
