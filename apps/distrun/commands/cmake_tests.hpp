#pragma once
// Tests as calls of a CMake function, for distrun_discover_tests() (scripts/cmake/DistrunAddTests.cmake).
#include <string>
#include <vector>

#include <distrun/runner/plan/plan.hpp>

namespace distrun::cli {

// Returns `distrun_add_test([==[Ring.pass]==] 4 FILTER ... )` for each test, a line each.
std::string cmake_calls(const std::vector<runner::PlannedTest>& tests);

}  // namespace distrun::cli
