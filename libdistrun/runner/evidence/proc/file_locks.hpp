#pragma once
// Who waits for which lock on a file, and who has it, from /proc/locks: flock(), fcntl() and open-file locks.
#include <sys/types.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace distrun::evidence {

struct LockWait {
  pid_t waiter = 0;
  pid_t holder = 0;  // who took it; -1: not told, as for locks of an open file. It may have ended since
  std::string file;  // as the kernel names it: "08:01:1234"
  std::string kind;  // "FLOCK", "POSIX", "OFDLCK"
  friend bool operator==(const LockWait&, const LockWait&) = default;
};

// The entries that wait. Lines that are not understood are passed over.
std::vector<LockWait> parse_locks(std::string_view text);
std::vector<LockWait> read_lock_waits();

}  // namespace distrun::evidence
