#pragma once
// One rank at a time, by a file that all of them can name.
#include <string>

#include <distrun/common/base/fd.hpp>
#include <distrun/common/base/location.hpp>

namespace distrun {

// While it lives, no other FileLock holds the same file, in this process or in another one. Waiting for it is bounded
// by the phase in which it happens, and on the rank's board with the process that held it when the wait began:
// `distrun ps`, looks and reports show that. A holder that dies has let go. The file is made if there is none, and
// stays: with a path below Rank::temp_dir() it goes with the attempt.
class FileLock {
 public:
  // Throws Error{Failed} with the path if it cannot be opened or locked.
  explicit FileLock(const std::string& path, base::Location where = base::Location::here());

 private:
  base::Fd file_;
};

}  // namespace distrun
