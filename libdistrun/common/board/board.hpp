#pragma once
// The board of one attempt, from both sides. A rank that is given none works all the same, and shows nothing.
#include <memory>

#include <distrun/common/base/fd.hpp>
#include <distrun/common/board/layout.hpp>

namespace distrun::board {

// Mapped memory; unmapped with its owner.
class Mapping {
 public:
  Mapping() noexcept = default;
  // Throws Error{Failed}.
  Mapping(int fd, std::size_t size, std::size_t offset, bool writable);
  Mapping(Mapping&& other) noexcept;
  Mapping& operator=(Mapping&& other) noexcept;
  ~Mapping();
  std::byte* data() const noexcept { return data_; }

 private:
  std::byte* data_ = nullptr;
  std::size_t size_ = 0;
};

// Memory that others can be given, all zeros, of a size that nobody can change: a process that shared it and truncated
// it would kill whoever reads it. Throws Error{Failed} when memory or descriptors run out.
base::Fd make_memory(std::size_t size);

// The coordinator's: makes the memory and reads it.
class Board {
 public:
  // Throws Error{Failed} when memory or descriptors run out.
  explicit Board(int world_size);
  // For the ranks.
  int fd() const noexcept { return fd_.get(); }
  int world_size() const noexcept { return world_size_; }
  const Slot& slot(int rank) const noexcept;

 private:
  int world_size_;
  base::Fd fd_;
  Mapping all_;
};

// A rank's: its own slot to write, everybody's to read.
class RankBoard {
 public:
  RankBoard() noexcept = default;
  // Throws Error{Failed} if `fd` holds no board for that many ranks. Does not keep `fd`.
  RankBoard(int fd, int rank, int world_size);
  Slot* own() const noexcept { return own_.data() == nullptr ? nullptr : reinterpret_cast<Slot*>(own_.data()); }
  const Slot* peer(int rank) const noexcept;  // nullptr: no such rank, or no board

 private:
  int world_size_ = 0;
  Mapping own_;
  Mapping all_;
};

}  // namespace distrun::board
