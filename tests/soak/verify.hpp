#pragma once
// Compares what came of tests with tests/fixtures/expected_soak.hpp. Pure: everything that was seen is handed in.
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "draw.hpp"
#include "fixtures/expected_soak.hpp"
#include "support/summary.hpp"

namespace distrun::soak {

using Texts = std::vector<std::string>;

// What one test or one disturbance came to.
struct Checked {
  std::string row;  // of the matrix: a fault or a disturbance
  std::string isolation;
  std::string id;  // of the test; empty for what holds of the whole invocation
  Texts wrong;     // sentences; empty: all is right
};

// What an invocation was seen to come to.
struct Seen {
  bool struck = false;  // the disturbance came while distrun ran; else it is as if there were none
  bool out_of_time = false;
  int exit_code = -1;
  int signal = 0;
  std::string console;
  std::optional<testing::Summary> summary;      // empty: there is none
  std::string no_summary;                       // why
  std::map<std::string, std::string> verdicts;  // of the tests that were over, by the stream of events
  Texts remains;                                // what was left on the machine
  // Exit codes of the run that the daemon had to serve afterwards, and of the daemon's own end. Empty: without one.
  std::optional<int> served;
  std::optional<int> daemon_end;
  std::string console_served;
};

// `scale` multiplies bounds and graces.
Texts wrong_with_test(const Case& played, const std::string& isolation, const testing::TestResult& test, double scale);
// One for each test that could be judged, and one for the invocation.
std::vector<Checked> check(const Invocation& invocation, const Seen& seen, double scale);

}  // namespace distrun::soak
