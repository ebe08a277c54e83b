#pragma once
// Every exit code of distrun. Scripts rely on them; where several apply the order is 130, 3, 1, 4.

namespace distrun::cli {

enum ExitCode : int {
  kSuccess = 0,      // every test passed or is flaky
  kTestsFailed = 1,  // some test did not
  kUsage = 2,        // the command line makes no sense; nothing was started
  kInfraError = 3,   // distrun or the machine failed, not the tests
  kNothingRan = 4,   // no test was selected, or all were skipped (--skips-pass makes that 0)
  kInterrupted = 130,
};

}  // namespace distrun::cli
