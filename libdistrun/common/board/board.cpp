#include <distrun/common/board/board.hpp>

#include <sys/mman.h>

#include <cerrno>
#include <string>
#include <utility>

#include <distrun/common/base/error.hpp>
#include <distrun/common/base/sealed_memory.hpp>

namespace distrun::board {
namespace {

std::size_t size_of(int world_size) { return static_cast<std::size_t>(world_size) * kSlotSize; }

const Slot& slot_at(const Mapping& all, int rank) { return *reinterpret_cast<const Slot*>(all.data() + size_of(rank)); }

}  // namespace

base::Fd make_memory(std::size_t size) { return base::make_sealed_memory("distrun-board", size); }

Mapping::Mapping(int fd, std::size_t size, std::size_t offset, bool writable) : size_(size) {
  void* at =
      ::mmap(nullptr, size, writable ? PROT_READ | PROT_WRITE : PROT_READ, MAP_SHARED, fd, static_cast<off_t>(offset));
  if (at == MAP_FAILED) base::throw_errno("cannot map the board", errno);
  data_ = static_cast<std::byte*>(at);
}

Mapping::Mapping(Mapping&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}

Mapping& Mapping::operator=(Mapping&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  return *this;
}

Mapping::~Mapping() {
  if (data_ != nullptr) ::munmap(data_, size_);
}

Board::Board(int world_size)
    : world_size_(world_size), fd_(make_memory(size_of(world_size))), all_(fd_.get(), size_of(world_size), 0, false) {}

const Slot& Board::slot(int rank) const noexcept { return slot_at(all_, rank); }

RankBoard::RankBoard(int fd, int rank, int world_size) : world_size_(world_size) {
  if (rank < 0 || rank >= world_size || base::sealed_size(fd) != size_of(world_size)) {
    throw Error(ErrorKind::Failed, "descriptor " + std::to_string(fd) + " is not a board of " +
                                       std::to_string(world_size) + " ranks with a slot for rank " +
                                       std::to_string(rank));
  }
  own_ = Mapping(fd, kSlotSize, size_of(rank), true);
  all_ = Mapping(fd, size_of(world_size), 0, false);
}

const Slot* RankBoard::peer(int rank) const noexcept {
  return rank < 0 || rank >= world_size_ ? nullptr : &slot_at(all_, rank);
}

}  // namespace distrun::board
