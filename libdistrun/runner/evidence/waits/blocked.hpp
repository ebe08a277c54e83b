#pragma once
// For what a thread waits, as far as it can be seen from outside.
#include <sys/types.h>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include <distrun/runner/evidence/waits/connections.hpp>

namespace distrun::evidence {

inline constexpr std::size_t kThreadsOfProcessMax = 1024;  // more are not looked at

enum class BlockKind : std::uint8_t {
  None,         // it runs, or sleeps in no system call
  Descriptors,  // for one of `fds`
  Child,        // for one of `pids` to end
  FileLock,     // held by `pids`
  Futex,        // a word in memory: a mutex, a condition, a semaphore
  Thread,       // for the end of a thread of its own
  Sleep,
  Signal,
  Other,    // a system call that says nothing of others
  Unknown,  // why_unknown says why
};

struct Blocked {
  pid_t pid = 0;
  pid_t tid = 0;
  std::string name;  // of the thread
  char state = '?';  // R, S, D, T, t, Z as in /proc
  BlockKind kind = BlockKind::Unknown;
  std::string call;          // "read(5)", "poll of 3 descriptors"; empty: in none
  std::vector<Watch> fds;    // any of which would end the wait
  bool polls = false;        // by a call for many descriptors, as event loops make them
  std::vector<pid_t> pids;   // children, or those that hold the lock
  std::string lock;          // a file "08:01:1234", shared memory "/dev/shm/x + 0x40", or a private address
  std::string lock_key;      // equal for all threads, also of other processes, that wait for the same; may be empty
  bool bounded = false;      // it ends by itself
  std::string limit;         // "1.5 s", if that was found
  std::vector<pid_t> peers;  // processes that could end the wait, ascending; the own one only if it is one of them
  std::map<pid_t, std::string> strangers;  // peers that Connections does not name: "4713 (sleep 100)"
  std::string kernel_function;             // in which it sleeps uninterruptibly; empty: it doesn't, or that is hidden
  std::string why_unknown;
  bool hidden = false;  // it takes more rights to see it
};

}  // namespace distrun::evidence
