#pragma once
// The coordinator's side of a trace's memory: creates it, and reads what the ranks have recorded (reader.hpp).
#include <string>

#include <distrun/common/base/fd.hpp>
#include <distrun/common/trace/layout.hpp>

namespace distrun::trace {

// Returns how many records a memory keeps for a rank that asks for `records`: a power of 2 within limits.
std::uint64_t records_kept(std::uint64_t records) noexcept;

class Memory {
 public:
  // Allocates records_kept(records) records per rank. Throws Error{Failed} if resources run out.
  Memory(int world_size, std::uint64_t records);
  ~Memory();
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;

  // Returns a path for processes of this user and machine, valid as long as this object lives. The size is sealed.
  std::string path() const;
  int world_size() const noexcept { return world_size_; }
  std::uint64_t records() const noexcept { return records_; }
  const AreaHead& head(int rank) const noexcept;
  const Cell* cells(int rank) const noexcept;

 private:
  const int world_size_;
  const std::uint64_t records_;
  const std::size_t size_;
  base::Fd fd_;
  const std::byte* data_ = nullptr;
};

}  // namespace distrun::trace
