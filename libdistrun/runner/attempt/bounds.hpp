#pragma once
// Every bound that the runner sets, in one table.
#include <distrun/common/base/clock.hpp>
#include <distrun/common/base/sanitizer.hpp>
#include <distrun/runner/record/record.hpp>

namespace distrun::runner {

// What follows a failure, a timeout or a cancellation. Not scaled by --timeout-scale.
struct Graces {
  // For the stacks of a timeout or a crash. With a sanitizer the probe reads several times as long.
  Nanoseconds evidence = std::chrono::milliseconds(base::kSanitized ? 4000 : 1000);
  Nanoseconds peers = std::chrono::milliseconds(500);       // for the others to report their own errors
  Nanoseconds terminate = std::chrono::milliseconds(500);   // from SIGTERM to SIGKILL
  Nanoseconds kill = std::chrono::milliseconds(1000);       // from SIGKILL to giving a process up
  Nanoseconds connection = std::chrono::milliseconds(200);  // from a broken connection to a lost rank
  Nanoseconds leak = std::chrono::milliseconds(100);        // what ends or vanishes by itself so soon is no leak
  // For the stacks when somebody stops the run; of a test that has run for less than the second nobody wonders.
  Nanoseconds last_look = std::chrono::milliseconds(base::kSanitized ? 2000 : 500);
  Nanoseconds last_look_after = std::chrono::milliseconds(1000);
};

// The bound of a phase for a test: the table's, or for the body --timeout-override, else the test's own, else
// --timeout; all times --timeout-scale.
Nanoseconds bound_of(wire::Phase phase, const wire::TestInfo& test, const Settings& settings);
// Of listing and of loading a plugin.
Nanoseconds load_bound(const Settings& settings);

}  // namespace distrun::runner
