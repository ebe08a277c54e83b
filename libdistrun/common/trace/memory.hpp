#pragma once
// The coordinator's side of a trace's memory: makes it, and reads what ranks have written there (reader.hpp).
#include <string>

#include <distrun/common/base/fd.hpp>
#include <distrun/common/trace/layout.hpp>

namespace distrun::trace {

class Memory {
 public:
  // Room for so many records of each rank; rounded up to a power of 2. Throws Error{Failed} when memory or descriptors
  // run out.
  Memory(int world_size, std::uint64_t records);
  ~Memory();
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;

  // Where ranks find it: for processes of this user and machine, as long as this lives. Its size is sealed.
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
