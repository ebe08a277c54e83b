#pragma once
// What each address is that work is asked to touch: memory of a virtual device, of another process's, pinned memory, or
// any other of the host's. Any thread.
#include <map>
#include <mutex>
#include <optional>
#include <vector>

#include <distrun/runtime/device/drivers/virtual/memory.hpp>
#include <distrun/runtime/device/drivers/virtual/order_check.hpp>

namespace distrun::device::virtual_gpu {

struct AddressPlace {
  int device = -1;      // -1: the host's
  bool pinned = false;  // of the host's
  void* own = nullptr;  // where kernels touch it
  Extent allocation;    // of the device's
};

class AddressSpace {
 public:
  AddressSpace(int devices, std::size_t bytes_each);

  // Throws Error{Overloaded, "OutOfMemoryError"}.
  void* allocate(int device, std::size_t bytes);
  void free(int device, void* memory, const core::CallSite& site);
  std::size_t free_bytes(int device) const;
  void* allocate_pinned(std::size_t bytes);
  void free_pinned(void* memory);
  void* add_imported(int device, TwoViews views);
  void remove_imported(void* memory);

  // Throws Error{InvalidArgument} unless all of [address, address + bytes) is of one live allocation, or the host's. Of
  // one that was freed the error says where.
  AddressPlace place(const void* address, std::size_t bytes) const;
  int device_of(const void* address) const noexcept;
  // A part of an allocation was handed out to a user, at that site.
  void name_block(const void* memory, std::size_t bytes, const core::CallSite& site);
  // It was given back, at that site: whatever is asked of it until it is named again is refused.
  void free_block(const void* memory, std::size_t bytes, const core::CallSite& site) noexcept;
  Block block_of(const void* address) const;
  const DeviceMemory& device(int index) const { return devices_[static_cast<std::size_t>(index)]; }

  // What the address is, in words: "device memory of cuda:1 (allocated at ring.cpp:12)". The number of characters,
  // which are not terminated; 0 if it is none of ours. Async-signal-safe: it gives up what others are changing now.
  std::size_t describe(const void* address, char* text, std::size_t size) const noexcept;

 private:
  struct Imported {
    int device;
    TwoViews views;
  };

  std::optional<AddressPlace> place_imported(const void* address, std::size_t bytes) const;
  const Imported* find_imported(const void* address) const noexcept;
  bool is_pinned(const void* address) const noexcept;
  const Block* find_block(const void* address) const noexcept;
  void forget_blocks(std::int64_t begin, std::int64_t end);
  [[noreturn]] void refuse_freed(int device, std::size_t bytes, const Block& block, const void* address) const;

  std::vector<DeviceMemory> devices_;  // which addresses they have is constant
  mutable std::mutex mutex_;
  // Guarded by mutex_.
  std::map<const std::byte*, Imported> imported_;
  std::map<const std::byte*, std::size_t> pinned_;
  std::map<std::int64_t, Block> blocks_;
  std::uint64_t next_block_ = 1;
};

}  // namespace distrun::device::virtual_gpu
