#pragma once
// Compares the outcomes of tests with tests/fixtures/expected_soak.hpp. Pure: all observations are passed in.
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "draw.hpp"
#include "fixtures/expected_soak.hpp"
#include "support/summary.hpp"

namespace distrun::soak {

using Texts = std::vector<std::string>;

// The result of checking one test or one disturbance.
struct Checked {
  std::string row;  // of the matrix: a fault or a disturbance
  std::string isolation;
  std::string id;  // of the test; empty for the invocation as a whole
  Texts wrong;     // sentences; empty: all is right
};

// The observed results of an invocation.
struct Seen {
  bool struck = false;  // the disturbance came while distrun ran; otherwise it is ignored
  bool out_of_time = false;
  int exit_code = -1;
  int signal = 0;
  std::string console;
  std::optional<testing::Summary> summary;      // empty: not written
  std::string no_summary;                       // why there is no summary
  std::map<std::string, std::string> verdicts;  // of the finished tests, by the stream of events
  Texts remains;                                // what was left on the machine
  // Exit codes of a later run by the daemon, and of the daemon itself. Empty: no daemon.
  std::optional<int> served;
  std::optional<int> daemon_end;
  std::string console_served;
};

// `scale` multiplies timeouts and grace periods.
Texts wrong_with_test(const Case& played, const std::string& isolation, const testing::TestResult& test, double scale);
// Returns a result for each test that could be judged, and one for the invocation.
std::vector<Checked> check(const Invocation& invocation, const Seen& seen, double scale);

}  // namespace distrun::soak
