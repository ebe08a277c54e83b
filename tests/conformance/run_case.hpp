#pragma once
// One or a few tests of a plugin, run by the real distrun, with what came of them.
#include <string>
#include <vector>

#include "support/sandbox.hpp"

namespace distrun::testing {

using Texts = std::vector<std::string>;

struct CaseRun {
  Ended ended;
  Summary summary;
  Texts remains;       // of the run, afterwards
  std::string events;  // events.ndjson

  // Fails the test case if there is none of that id.
  const TestResult& test(const std::string& id) const;
  // Its only attempt; the same.
  const AttemptResult& attempt(const std::string& id) const;
  std::string console() const { return ended.out + ended.err; }
};

std::string cases_plugin();
// A bound for --timeout: so many milliseconds, longer where the tests are told that all is slower.
std::string bound(int length_ms);

// The tests of `plugin` that a filter names, with further arguments. It must have ended within the time that any of
// these tests may take, and have left nothing behind.
CaseRun run_tests(const std::string& plugin, const Texts& filters, const Texts& arguments = {});
// Of cases_plugin().
CaseRun run_case(const std::string& id, const Texts& arguments = {});

Texts outcomes_of(const AttemptResult& attempt);
// "rank 1: text" of every error.
Texts errors_of(const AttemptResult& attempt);

}  // namespace distrun::testing
