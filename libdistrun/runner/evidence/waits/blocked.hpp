#pragma once
// The wait of a thread, as far as it can be seen from outside.
#include <sys/types.h>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include <distrun/runner/evidence/waits/connections.hpp>

namespace distrun::evidence {

inline constexpr std::size_t kThreadsOfProcessMax = 1024;  // further threads are ignored

enum class BlockKind : std::uint8_t {
  None,         // it runs, or sleeps outside a system call
  Descriptors,  // waits for one of `fds`
  Child,        // waits for one of `pids` to end
  FileLock,     // held by `pids`
  Futex,        // a word in memory: a mutex, a condition, a semaphore
  Thread,       // waits for another thread of its process to end
  Fifo,         // opens `target`, a named pipe, and waits for its other end to be opened
  Sleep,
  Signal,
  Other,    // a system call that does not depend on other processes
  Unknown,  // why_unknown says why
};

struct Blocked {
  pid_t pid = 0;
  pid_t tid = 0;
  std::string name;  // the thread's name
  char state = '?';  // R, S, D, T, t, Z as in /proc
  BlockKind kind = BlockKind::Unknown;
  std::string call;             // "read(5)", "poll of 3 descriptors"; empty: in no call
  std::vector<Watch> fds;       // any of them ends the wait
  std::string target;           // what it opens or connects to: "/tmp/fifo", "/tmp/x.sock", "@abstract"; mostly empty
  bool polls = false;           // the call takes many descriptors, as those of event loops do
  std::vector<pid_t> pids;      // children, or holders of the lock
  std::string lock;             // a file "08:01:1234", shared memory "/dev/shm/x + 0x40", or a private address
  std::string lock_key;         // equal for all threads, of any process, that wait for the same lock; may be empty
  pid_t owner = 0;              // the thread that holds the lock, or that must end; 0: not known
  std::string lock_note;        // what else was seen of it: "its owner, thread 4711, has exited"
  bool is_shared = false;       // the futex may be woken by other processes
  bool bounded = false;         // the wait has a timeout
  std::string limit;            // "1.5 s", if it is known
  bool may_be_bounded = false;  // the time limit of its socket could not be read
  std::vector<pid_t> peers;     // processes that could end the wait, ascending; its own process only if that could
  std::map<pid_t, std::string> strangers;  // peers missing from Connections: "4713 (sleep 100)"
  std::string kernel_function;             // in which it sleeps uninterruptibly; empty: it does not, or that is hidden
  std::string why_unknown;
  bool hidden = false;  // more privileges are needed to see it
};

}  // namespace distrun::evidence
