#pragma once
// Turns tests of another framework into tests of a plugin; <distrun/gtest.hpp> and <distrun/catch2.hpp> are built on
// it. The framework keeps its own list of tests; a TestFramework converts it to declarations, each of which runs one
// test through the framework. The outcome is reported to the rank's tally, as by DISTRUN checks.
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <distrun/common/base/location.hpp>
#include <distrun/plugin/sdk/declare.hpp>

namespace distrun::detail {

// All tests of a framework within this plugin.
struct TestFramework {
  std::function<TestOptions()> options;  // for all tests; a DISTRUN_SUITE and the test's own options win
  // Called once, before tests are listed or run. Each declaration has `bridged` and its own `options`; `make` is not
  // used.
  std::function<std::vector<TestDeclaration>()> tests;
};
bool declare(TestFramework framework);

// Escapes text for a part of an id. A character that an id cannot hold (and '%') becomes %XX, its byte in hexadecimal,
// so that different texts stay different. A value may hold '.' and '/', a name may hold ','.
std::string escape_name(std::string_view text);
std::string escape_value(std::string_view text);
// The same for titles: a space becomes '_'. Different titles may become equal.
std::string escape_title(std::string_view text);

// How distrun treats an exception that the framework has caught. Neither: a distrun check has failed, and was reported.
struct Caught {
  std::optional<Skip> skip;
  std::optional<Failure> failure;
};
// Describes the exception being handled; call it in a catch block or from one.
Caught caught_exception();

void enter_phase(Rank& rank, std::int32_t phase);  // DISTRUN_PHASE_...

}  // namespace distrun::detail
