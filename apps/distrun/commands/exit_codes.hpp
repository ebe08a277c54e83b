#pragma once
// All exit codes of distrun. Scripts rely on them; if several apply, the order of precedence is 130, 3, 1, 4. `distrun
// doctor` uses the numbers for its findings: 0 no hang, 1 a hang, 4 a wait with an unknown cause; 3 says that something
// could not be looked at, and gives way to 1, since a hang that was found stays one.

namespace distrun::cli {

enum ExitCode : int {
  kSuccess = 0,      // every test passed or is flaky
  kTestsFailed = 1,  // some test failed
  kUsage = 2,        // invalid command line; nothing was started
  kInfraError = 3,   // distrun or the machine failed, not the tests
  kNothingRan = 4,   // no test was selected, or all were skipped (0 with --skips-pass)
  kInterrupted = 130,
};

}  // namespace distrun::cli
