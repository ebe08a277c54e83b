#pragma once
// Runs one or a few tests of a plugin with the real distrun, and collects the results.
#include <string>
#include <vector>

#include "support/sandbox.hpp"

namespace distrun::testing {

using Texts = std::vector<std::string>;

struct CaseRun {
  Ended ended;
  Summary summary;
  Texts remains;       // of the run, after its end
  std::string events;  // events.ndjson

  // Fails the test case if there is no such id.
  const TestResult& test(const std::string& id) const;
  // Returns the only attempt; fails likewise.
  const AttemptResult& attempt(const std::string& id) const;
  std::string console() const { return ended.out + ended.err; }
};

std::string cases_plugin();
// Returns a bound for --timeout in milliseconds, scaled where everything is slower.
std::string bound(int length_ms);

// Runs the tests of `plugin` that a filter names. The run must end within the time allowed for these tests and leave
// nothing behind.
CaseRun run_tests(const std::string& plugin, const Texts& filters, const Texts& arguments = {});
// Runs a test of cases_plugin().
CaseRun run_case(const std::string& id, const Texts& arguments = {});

Texts outcomes_of(const AttemptResult& attempt);
// Returns "rank 1: text" for every error.
Texts errors_of(const AttemptResult& attempt);

}  // namespace distrun::testing
