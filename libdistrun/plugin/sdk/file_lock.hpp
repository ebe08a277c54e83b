#pragma once
// Mutual exclusion between ranks, by a file that all of them can name.
#include <string>

#include <distrun/common/base/fd.hpp>
#include <distrun/common/base/location.hpp>

namespace distrun {

// While it lives, no other FileLock holds the same file, in any process. The timeout of the phase bounds the wait,
// which is shown on the rank's board with the process that held the lock when it began: `distrun ps`, snapshots and
// reports show it. If the holder dies, the lock is released. Creates the file if needed, and keeps it: a path below
// Rank::temp_dir() is removed with the attempt.
class FileLock {
 public:
  // Throws Error{Failed} with the path if it cannot be opened or locked.
  explicit FileLock(const std::string& path, base::Location where = base::Location::here());

 private:
  base::Fd file_;
};

}  // namespace distrun
