#pragma once
// All time bounds that the runner sets, in one table.
#include <distrun/common/base/clock.hpp>
#include <distrun/common/base/sanitizer.hpp>
#include <distrun/runner/record/record.hpp>

namespace distrun::runner {

// Waiting times after a failure, a timeout or a cancellation. Not scaled by --timeout-scale, but for those of stacks.
struct Graces {
  // Bounds the stacks of a running test or a crash. Under a sanitizer the probe takes several times as long.
  Nanoseconds evidence = std::chrono::milliseconds(base::kSanitized ? 4000 : 1000);
  // Bounds the stacks of a timeout: they are all that explains it, and no rank has anything left to do.
  Nanoseconds timeout_evidence = std::chrono::milliseconds(base::kSanitized ? 10'000 : 5000);
  Nanoseconds peers = std::chrono::milliseconds(500);       // for the other ranks to report their errors
  Nanoseconds terminate = std::chrono::milliseconds(500);   // from SIGTERM to SIGKILL
  Nanoseconds kill = std::chrono::milliseconds(1000);       // from SIGKILL to giving a process up
  Nanoseconds exit = std::chrono::milliseconds(3000);       // the same if it is exiting by then: it may lack a CPU
  Nanoseconds connection = std::chrono::milliseconds(200);  // from a broken connection to a lost rank
  Nanoseconds leak = std::chrono::milliseconds(100);        // what disappears within this time is no leak
  // Bounds the stacks when the run is stopped, if the test has run for at least last_snapshot_after.
  Nanoseconds last_snapshot = std::chrono::milliseconds(base::kSanitized ? 2000 : 500);
  Nanoseconds last_snapshot_after = std::chrono::milliseconds(1000);
};

// Returns the graces with longer bounds of stacks if --timeout-scale is more than 1: the machine is slow then.
Graces scaled_evidence(Graces graces, const Settings& settings);

// Returns the bound of a phase: the table's; for the body --timeout-override, else the test's own, else --timeout. All
// are multiplied by --timeout-scale.
Nanoseconds bound_of(wire::Phase phase, const wire::TestInfo& test, const Settings& settings);
// The bound for listing and for loading a plugin.
Nanoseconds load_bound(const Settings& settings);

}  // namespace distrun::runner
