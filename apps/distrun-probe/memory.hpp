#pragma once
// The memory of another process for the unwinder: a copy of the stack, taken while the thread was stopped, and the
// current contents of everything else. A process is named by one of its living threads: if its main thread has ended,
// nothing can be read by its pid. Needs the permission to trace; never stops anything.
#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace distrun::probe {

// Returns the number of bytes read.
std::size_t read_memory(pid_t tid, std::uint64_t address, void* to, std::size_t size);

struct StackCopy {
  std::uint64_t begin = 0;
  std::vector<std::byte> bytes;
};
// Copies from `begin` to `end`, or as far as it can be read.
StackCopy copy_stack(pid_t tid, std::uint64_t begin, std::uint64_t end);

// `stack` must outlive this.
class Memory {
 public:
  Memory(pid_t tid, const StackCopy& stack) noexcept : tid_(tid), stack_(stack) {}

  bool read_word(std::uint64_t address, std::uint64_t& word);

 private:
  const pid_t tid_;
  const StackCopy& stack_;
  StackCopy page_;  // the last page read from the process
};

}  // namespace distrun::probe
