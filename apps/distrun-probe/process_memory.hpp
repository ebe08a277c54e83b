#pragma once
// The memory of a real process, by pages, of which each is read once. Not for use across a stop: what was read stays.
#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <map>
#include <vector>

#include "python/foreign_memory.hpp"

namespace distrun::probe::python {

class ProcessMemory final : public ForeignMemory {
 public:
  // `tid`: a living thread of the process. From `end` on, or if too much was read, every read fails.
  ProcessMemory(pid_t tid, std::chrono::steady_clock::time_point end) : tid_(tid), end_(end) {}

  bool read(Address address, void* into, std::size_t size) override;
  // Returns whether a read failed since the limit was reached.
  bool is_over() const noexcept { return is_over_; }

 private:
  const std::vector<std::byte>* page_at(Address begin);

  const pid_t tid_;
  const std::chrono::steady_clock::time_point end_;
  std::map<Address, std::vector<std::byte>> pages_;  // empty: not readable
  bool is_over_ = false;
};

}  // namespace distrun::probe::python
