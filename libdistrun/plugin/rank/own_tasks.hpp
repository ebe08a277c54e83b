#pragma once
// Lists this process's threads from /proc/self/task, with system calls only.
//
// Any thread. Async-signal-safe. Makes the kernel spend more time on the process's end, so use it only for a dump.
#include <sys/types.h>

#include <cstddef>
#include <cstdint>

namespace distrun::rank {

class OwnTasks {
 public:
  // Lists nothing if no descriptor is left or there is no /proc.
  OwnTasks() noexcept;
  OwnTasks(const OwnTasks&) = delete;
  OwnTasks& operator=(const OwnTasks&) = delete;
  ~OwnTasks();

  // Returns the next thread's id; 0 after the last.
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
// Returns false if the thread is gone.
bool read_status(pid_t tid, TaskStatus& status) noexcept;
// Reads a thread's name, without a newline; empty if it is gone.
void read_name(pid_t tid, char (&name)[16]) noexcept;

}  // namespace distrun::rank
