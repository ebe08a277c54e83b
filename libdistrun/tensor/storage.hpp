#pragma once
// The bytes behind strided tensors; views share one. Its version counts in-place changes, so that a gradient formula
// notices that what it kept is no longer what it was.
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

#include <distrun/device/allocator.hpp>
#include <distrun/tensor/refcount.hpp>

namespace distrun::tensor {

class Storage final : public Counted {
 public:
  // For the current stream of the device; the bytes are not set.
  Storage(Device device, std::size_t bytes);
  explicit Storage(std::unique_ptr<device::Memory> memory) : memory_(std::move(memory)) {}

  std::byte* data() const noexcept { return static_cast<std::byte*>(memory_->data()); }
  std::size_t bytes() const noexcept { return memory_->bytes(); }
  Device device() const noexcept { return memory_->device(); }
  void record_stream(Stream stream) { memory_->record_stream(stream); }

 private:
  std::unique_ptr<device::Memory> memory_;
};

}  // namespace distrun::tensor
