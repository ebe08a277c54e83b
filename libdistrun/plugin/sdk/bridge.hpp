#pragma once
// How tests of another framework become tests of a plugin: what <distrun/gtest.hpp> and
// <distrun/catch2.hpp> are made with. The framework keeps its own list of tests; a TestFramework turns
// that into declarations, each of which runs one test by means of the framework. What comes of it
// is told to the rank's tally, as our own checks do.
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
  std::function<TestOptions()> options;  // for all of them; a DISTRUN_SUITE and the test's own win
  // Called once, before tests are listed or run. Each declaration has `bridged`, and options of its
  // own in `options`; its `make` is not used.
  std::function<std::vector<TestDeclaration>()> tests;
};
bool declare(TestFramework framework);

// Texts as parts of an id. What an id cannot hold (and '%') becomes %XX, the byte in hexadecimal, so
// that two texts never become one. A value may hold '.' and '/', and a name may hold ','.
std::string escape_name(std::string_view text);
std::string escape_value(std::string_view text);
// The same for titles in plain words: a space becomes '_'. Two titles may become one.
std::string escape_title(std::string_view text);

// What an exception that the framework has caught is to distrun. Neither of both: a check of distrun
// has failed, and was reported.
struct Caught {
  std::optional<Skip> skip;
  std::optional<Failure> failure;
};
// Of the exception being handled; call it in a catch block only, or in what one calls.
Caught caught_exception();

void enter_phase(Rank& rank, std::int32_t phase);  // DISTRUN_PHASE_...

}  // namespace distrun::detail
