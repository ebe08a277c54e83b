#pragma once
// The negative control of a suite: with a mutation active (mutations/NAME.mutations), the tests that claim to detect it
// must fail; and every test detects some mutation, or has a reason why not.
#include <string>

#include "run_case.hpp"

namespace distrun::testing {

// A suite and its arguments.
struct ControlledSuite {
  std::string plugin;
  std::string mutations;  // the list of mutations
  std::string expected;   // its expected_tests.txt
  Texts arguments = {};
  std::string libraries = {};  // LD_LIBRARY_PATH; empty: unchanged
};

// Checks the lists only: each test is named by a mutation, or excused with a reason. Runs nothing.
void check_list(const ControlledSuite& suite);
// Runs the suite once for each mutation: the tests that are to detect it must fail.
void check_control(const ControlledSuite& suite);
// Checks that the suite passes with all mutations compiled in but none active: failures in check_control() are due to
// the mutation.
void check_honest(const ControlledSuite& suite);

}  // namespace distrun::testing
