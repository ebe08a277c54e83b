#pragma once
// The memory of one virtual device. Its addresses lie in a view without access: host code that touches it faults at
// that very instruction. The same bytes are mapped a second time for the device's kernels.
//
//   view  | no access ..............................|   addresses that users see
//   own   | read, write ............................|   view + a constant; both of one memfd
//
// Not thread-safe.
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>

#include <distrun/common/base/fd.hpp>

namespace distrun::device::virtual_gpu {

// Two mappings of a part of a memfd.
class TwoViews {
 public:
  TwoViews() = default;
  // Throws Error{Failed} if it cannot be mapped.
  TwoViews(int memfd, std::size_t offset, std::size_t bytes);
  TwoViews(TwoViews&& other) noexcept;
  TwoViews& operator=(TwoViews&& other) noexcept;
  ~TwoViews();

  std::byte* view() const noexcept { return view_; }
  std::size_t bytes() const noexcept { return bytes_; }
  bool holds(const void* address) const noexcept { return address >= view_ && address < view_ + bytes_; }
  // Returns the accessible address of the byte at an address of the view.
  void* own(const void* address) const noexcept { return own_ + (static_cast<const std::byte*>(address) - view_); }

 private:
  std::byte* view_ = nullptr;
  std::byte* own_ = nullptr;
  std::size_t bytes_ = 0;
};

struct Extent {
  std::byte* begin = nullptr;
  std::size_t bytes = 0;
};

class DeviceMemory {
 public:
  // Creates a memfd, which vanishes with the last process that has it. Throws Error{Failed}.
  DeviceMemory(int device, std::size_t bytes);

  // Returns null if no contiguous piece is free. Bytes are initially 0.
  std::byte* allocate(std::size_t bytes);
  // Returns the bytes to the host. Throws Error{InvalidArgument} if no allocation begins there.
  void free(void* memory);
  std::size_t free_bytes() const noexcept { return free_bytes_; }
  std::size_t largest_free() const noexcept;
  // Returns the allocation that contains the address.
  std::optional<Extent> find(const void* address) const;

  const TwoViews& views() const noexcept { return views_; }
  int memfd() const noexcept { return memfd_.get(); }

 private:
  const int device_;
  base::Fd memfd_;
  TwoViews views_;
  std::size_t free_bytes_;
  // By offset in the view.
  std::map<std::size_t, std::size_t> used_;
  std::map<std::size_t, std::size_t> free_;
};

}  // namespace distrun::device::virtual_gpu
