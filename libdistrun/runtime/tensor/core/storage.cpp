#include <distrun/runtime/tensor/core/storage.hpp>

#include <new>

#include <distrun/runtime/tensor/core/watch.hpp>

namespace distrun::tensor {
namespace {

constexpr std::size_t kAlignment = alignof(std::max_align_t);

constexpr std::size_t aligned(std::size_t bytes) { return (bytes + kAlignment - 1) / kAlignment * kAlignment; }

// Reports to the watcher that the device holds this many bytes more (sign 1) or less (-1).
void tell(Device device, std::size_t bytes, int sign) noexcept {
  tell_watcher(device, sign * static_cast<std::int64_t>(bytes));
}

}  // namespace

constinit std::atomic<Watcher*> detail::watcher{nullptr};

Watcher* set_watcher(Watcher* watcher) noexcept { return detail::watcher.exchange(watcher, std::memory_order_acq_rel); }

Ref<Storage> Storage::make(Device device, std::size_t bytes) { return adopt(device::allocate(device, bytes, {})); }

Ref<Storage> Storage::adopt(std::unique_ptr<device::Memory> memory) {
  device::Memory& bytes = *memory;
  tell(bytes.device(), bytes.bytes(), 1);
  return Ref<Storage>::first(new (::operator new(sizeof(Storage))) Storage(
      bytes.device(), static_cast<std::byte*>(bytes.data()), bytes.bytes(), std::move(memory)));
}

Ref<Storage> Storage::make_small(std::size_t bytes, std::size_t room) {
  static_assert(sizeof(Storage) % kAlignment == 0, "what stands behind a storage is aligned");
  const std::size_t before = sizeof(Storage) + aligned(room);
  auto* block = static_cast<std::byte*>(::operator new(before + bytes));
  tell(device::kCpu, bytes, 1);
  return Ref<Storage>::first(new (block) Storage(device::kCpu, block + before, bytes, nullptr));
}

// Every storage is in memory from operator new, with or without bytes behind it.
void Storage::let_go() noexcept {
  tell(device_, bytes_, -1);
  this->~Storage();
  ::operator delete(this);
}

}  // namespace distrun::tensor
