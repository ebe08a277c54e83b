#pragma once
// The bytes of strided tensors; views share one storage. Its version counts in-place changes of all of them, so that a
// gradient formula notices that a saved tensor has changed.
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

#include <distrun/runtime/device/memory/allocator.hpp>
#include <distrun/runtime/device/stream.hpp>
#include <distrun/runtime/tensor/core/refcount.hpp>

namespace distrun::tensor {

// A small CPU storage is one block of memory: the storage, the first tensor on it, and the bytes. Most tensors of a
// program are small and have no views, so they cost one allocation.
class Storage final : public Counted {
 public:
  // Allocates uninitialized bytes for the device's current stream. Any thread.
  static Ref<Storage> make(Device device, std::size_t bytes);
  static Ref<Storage> adopt(std::unique_ptr<device::Memory> memory);
  // Allocates CPU bytes with `room` bytes beside them for an object of the caller that lives no longer than the
  // storage.
  static Ref<Storage> make_small(std::size_t bytes, std::size_t room);

  std::byte* data() const noexcept { return data_; }
  std::size_t bytes() const noexcept { return bytes_; }
  Device device() const noexcept { return device_; }
  void* room() noexcept { return this + 1; }
  void record_stream(Stream stream) {
    if (memory_) memory_->record_stream(stream);
  }
  // See Memory::is_used_only_by().
  bool is_used_only_by(Stream stream) const { return !memory_ || memory_->is_used_only_by(stream); }

  std::uint32_t version() const noexcept { return version_.load(std::memory_order_acquire); }
  void bump_version() noexcept { version_.fetch_add(1, std::memory_order_acq_rel); }

 private:
  Storage(Device device, std::byte* data, std::size_t bytes, std::unique_ptr<device::Memory> memory) noexcept
      : device_(device), data_(data), bytes_(bytes), memory_(std::move(memory)) {}
  void let_go() noexcept override;

  const Device device_;
  std::atomic<std::uint32_t> version_{0};
  std::byte* const data_;
  const std::size_t bytes_;
  const std::unique_ptr<device::Memory> memory_;  // null: the bytes follow this object
};

}  // namespace distrun::tensor
