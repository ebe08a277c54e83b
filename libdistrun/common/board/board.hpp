#pragma once
// The board of one attempt, from both sides. A rank without a board works as usual, and shows nothing.
#include <memory>

#include <distrun/common/base/fd.hpp>
#include <distrun/common/board/layout.hpp>

namespace distrun::board {

// Owns mapped memory; unmaps it in the destructor.
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

// Creates zeroed memory of a sealed size, to be shared: a process that truncated shared memory would kill its
// readers. Throws Error{Failed} if memory or descriptors run out.
base::Fd make_memory(std::size_t size);

// The coordinator's side: creates the memory and reads it.
class Board {
 public:
  // Throws Error{Failed} if memory or descriptors run out.
  explicit Board(int world_size);
  // Passed to the ranks.
  int fd() const noexcept { return fd_.get(); }
  int world_size() const noexcept { return world_size_; }
  const Slot& slot(int rank) const noexcept;

 private:
  int world_size_;
  base::Fd fd_;
  Mapping all_;
};

// A rank's side: writes its own slot and reads all slots.
class RankBoard {
 public:
  RankBoard() noexcept = default;
  // Throws Error{Failed} if `fd` does not hold a board for `world_size` ranks. Does not keep `fd`.
  RankBoard(int fd, int rank, int world_size);
  Slot* own() const noexcept { return own_.data() == nullptr ? nullptr : reinterpret_cast<Slot*>(own_.data()); }
  const Slot* peer(int rank) const noexcept;  // nullptr: no such rank, or no board

 private:
  int world_size_ = 0;
  Mapping own_;
  Mapping all_;
};

}  // namespace distrun::board
