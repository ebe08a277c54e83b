#pragma once
// This process's threads as /proc/self/task has them, read with system calls alone.
//
// Any thread. Async-signal-safe. Looking makes the kernel spend more on the process's end: only for a dump.
#include <sys/types.h>

#include <cstddef>
#include <cstdint>

namespace distrun::rank {

class OwnTasks {
 public:
  // Lists nothing if there is no descriptor left or no /proc.
  OwnTasks() noexcept;
  OwnTasks(const OwnTasks&) = delete;
  OwnTasks& operator=(const OwnTasks&) = delete;
  ~OwnTasks();

  // The next thread's id; 0 after the last.
  pid_t next() noexcept;

 private:
  int directory_;
  std::size_t filled_ = 0;
  std::size_t at_ = 0;
  alignas(8) char entries_[2048];
};

struct TaskStatus {
  char state = '?';           // R, S, D, T, t, Z, X
  std::uint64_t blocked = 0;  // signal N is bit N - 1
};
// False if the thread is gone.
bool read_status(pid_t tid, TaskStatus& status) noexcept;
// The name that a thread has, without a newline; empty if it is gone.
void read_name(pid_t tid, char (&name)[16]) noexcept;

}  // namespace distrun::rank
