#pragma once
// The negative control of a suite: told a lie (lies/NAME.lies), the tests that claim to look there must fail; and every
// test sees some lie, or has its reason.
#include <string>

#include "run_case.hpp"

namespace distrun::testing {

// What a suite is run with.
struct ControlledSuite {
  std::string plugin;
  std::string lies;      // the list
  std::string expected;  // its expected_tests.txt
  Texts arguments = {};
  std::string libraries = {};  // LD_LIBRARY_PATH; empty: as it is
};

// Of the lists alone: each test is named by a lie, or excused with a reason. Runs nothing.
void check_list(const ControlledSuite& suite);
// Runs the suite once for each lie: whoever is to see it fails.
void check_control(const ControlledSuite& suite);
// With the lies planted, but none told, the suite passes: what fails above fails for the lie.
void check_honest(const ControlledSuite& suite);

}  // namespace distrun::testing
