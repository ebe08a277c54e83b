#pragma once
// Classifies the addresses that work touches: memory of a virtual device, of another process, pinned, or other host
// memory. Thread-safe.
#include <map>
#include <mutex>
#include <optional>
#include <vector>

#include <distrun/runtime/device/drivers/virtual/memory.hpp>
#include <distrun/runtime/device/drivers/virtual/order_check.hpp>

namespace distrun::device::virtual_gpu {

struct AddressPlace {
  int device = -1;      // -1: the host's
  bool pinned = false;  // pinned host memory
  void* own = nullptr;  // address that kernels use
  Extent allocation;    // of device memory
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

  // Throws Error{InvalidArgument} unless all of [address, address + bytes) belongs to one live allocation, or to the
  // host. If the allocation was freed, the error says where.
  AddressPlace place(const void* address, std::size_t bytes) const;
  int device_of(const void* address) const noexcept;
  // Records that a part of an allocation was handed out to a user, at that site.
  void name_block(const void* memory, std::size_t bytes, const core::CallSite& site);
  // Records that it was returned, at that site: uses are refused until it is named again.
  void free_block(const void* memory, std::size_t bytes, const core::CallSite& site) noexcept;
  Block block_of(const void* address) const;
  const DeviceMemory& device(int index) const { return devices_[static_cast<std::size_t>(index)]; }

  // Describes the address: "device memory of cuda:1 (allocated at ring.cpp:12)". Returns the length, not terminated; 0
  // if the address is unknown. Async-signal-safe: gives up if another thread is changing the data.
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

  std::vector<DeviceMemory> devices_;  // their address ranges are constant
  mutable std::mutex mutex_;
  // Guarded by mutex_.
  std::map<const std::byte*, Imported> imported_;
  std::map<const std::byte*, std::size_t> pinned_;
  std::map<std::int64_t, Block> blocks_;
  std::uint64_t next_block_ = 1;
};

}  // namespace distrun::device::virtual_gpu
