#include <distrun/runtime/device/drivers/virtual/memory.hpp>

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <iterator>
#include <utility>

#include <distrun/common/base/error.hpp>
#include <distrun/runtime/core/shared_memory.hpp>
#include <distrun/runtime/device/device.hpp>

namespace distrun::device::virtual_gpu {
namespace {

constexpr std::size_t kVirtualAlignment = 512;

std::byte* map(int memfd, std::size_t offset, std::size_t bytes, int protection) {
  const int flags = memfd < 0 ? MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE : MAP_SHARED | MAP_NORESERVE;
  void* address = ::mmap(nullptr, bytes, protection, flags, memfd, static_cast<off_t>(offset));
  if (address == MAP_FAILED) {
    base::throw_errno("cannot map " + std::to_string(bytes) + " bytes of a virtual device", errno);
  }
  return static_cast<std::byte*>(address);
}

std::size_t rounded(std::size_t bytes) {
  return (std::max<std::size_t>(bytes, 1) + kVirtualAlignment - 1) / kVirtualAlignment * kVirtualAlignment;
}

}  // namespace

TwoViews::TwoViews(int memfd, std::size_t offset, std::size_t bytes)
    : view_(map(-1, 0, bytes, PROT_NONE)), bytes_(bytes) {
  try {
    own_ = map(memfd, offset, bytes, PROT_READ | PROT_WRITE);
  } catch (...) {
    ::munmap(view_, bytes_);
    throw;
  }
}

TwoViews::TwoViews(TwoViews&& other) noexcept
    : view_(std::exchange(other.view_, nullptr)),
      own_(std::exchange(other.own_, nullptr)),
      bytes_(std::exchange(other.bytes_, 0)) {}

TwoViews& TwoViews::operator=(TwoViews&& other) noexcept {
  std::swap(view_, other.view_);
  std::swap(own_, other.own_);
  std::swap(bytes_, other.bytes_);
  return *this;
}

TwoViews::~TwoViews() {
  if (bytes_ == 0) return;
  ::munmap(view_, bytes_);
  ::munmap(own_, bytes_);
}

DeviceMemory::DeviceMemory(int device, std::size_t bytes)
    : device_(device),
      memfd_(core::make_memfd("a virtual device", bytes)),
      views_(memfd_.get(), 0, bytes),
      free_bytes_(bytes) {
  free_.emplace(0, bytes);
}

std::byte* DeviceMemory::allocate(std::size_t bytes) {
  const std::size_t wanted = rounded(bytes);
  if (wanted < bytes) return nullptr;
  const auto fits = [wanted](const auto& piece) { return piece.second >= wanted; };
  const auto piece = std::find_if(free_.begin(), free_.end(), fits);
  if (piece == free_.end()) return nullptr;
  const auto [offset, size] = *piece;
  free_.erase(piece);
  if (size > wanted) free_.emplace(offset + wanted, size - wanted);
  used_.emplace(offset, wanted);
  free_bytes_ -= wanted;
  return views_.view() + offset;
}

void DeviceMemory::free(void* memory) {
  const auto at = static_cast<std::size_t>(static_cast<std::byte*>(memory) - views_.view());
  const auto found = views_.holds(memory) ? used_.find(at) : used_.end();
  if (found == used_.end()) {
    throw Error(ErrorKind::InvalidArgument, "no memory of " + to_string(cuda(device_)) + " begins at this address");
  }
  auto [offset, size] = std::pair(found->first, found->second);
  used_.erase(found);
  free_bytes_ += size;
  auto next = free_.lower_bound(offset);
  if (next != free_.end() && next->first == offset + size) {
    size += next->second;
    next = free_.erase(next);
  }
  if (next != free_.begin() && std::prev(next)->first + std::prev(next)->second == offset) {
    --next;
    size += next->second;
    offset = next->first;
    free_.erase(next);
  }
  free_.emplace(offset, size);
  // The kernel zeroes pages that are only partly in this piece, and frees the others.
  ::fallocate(memfd_.get(), FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, static_cast<off_t>(offset),
              static_cast<off_t>(size));
}

std::size_t DeviceMemory::largest_free() const noexcept {
  std::size_t largest = 0;
  for (const auto& [offset, size] : free_) largest = std::max(largest, size);
  return largest;
}

std::optional<Extent> DeviceMemory::find(const void* address) const {
  if (!views_.holds(address)) return std::nullopt;
  const auto offset = static_cast<std::size_t>(static_cast<const std::byte*>(address) - views_.view());
  auto found = used_.upper_bound(offset);
  if (found == used_.begin()) return std::nullopt;
  --found;
  if (offset >= found->first + found->second) return std::nullopt;
  return Extent{views_.view() + found->first, found->second};
}

}  // namespace distrun::device::virtual_gpu
