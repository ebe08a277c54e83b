#pragma once
// Reads waiters and holders of file locks from /proc/locks: flock(), fcntl() and open-file locks.
#include <sys/types.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace distrun::evidence {

struct LockWait {
  pid_t waiter = 0;
  pid_t holder = 0;  // the process that took it, which may have ended since; -1: unknown, as for open-file locks
  std::string file;  // the kernel's name for it: "08:01:1234"
  std::string kind;  // "FLOCK", "POSIX", "OFDLCK"
  friend bool operator==(const LockWait&, const LockWait&) = default;
};

// Returns the requests that wait. Lines that cannot be parsed are skipped.
std::vector<LockWait> parse_locks(std::string_view text);
std::vector<LockWait> read_lock_waits();

}  // namespace distrun::evidence
