#include <distrun/runtime/tensor/core/storage.hpp>

#include <new>

namespace distrun::tensor {
namespace {

constexpr std::size_t kAlignment = alignof(std::max_align_t);

constexpr std::size_t aligned(std::size_t bytes) { return (bytes + kAlignment - 1) / kAlignment * kAlignment; }

}  // namespace

Ref<Storage> Storage::make(Device device, std::size_t bytes) { return adopt(device::allocate(device, bytes)); }

Ref<Storage> Storage::adopt(std::unique_ptr<device::Memory> memory) {
  device::Memory& bytes = *memory;
  return Ref<Storage>::first(new (::operator new(sizeof(Storage))) Storage(
      bytes.device(), static_cast<std::byte*>(bytes.data()), bytes.bytes(), std::move(memory)));
}

Ref<Storage> Storage::make_small(std::size_t bytes, std::size_t room) {
  static_assert(sizeof(Storage) % kAlignment == 0, "what stands behind a storage is aligned");
  const std::size_t before = sizeof(Storage) + aligned(room);
  auto* block = static_cast<std::byte*>(::operator new(before + bytes));
  return Ref<Storage>::first(new (block) Storage(device::kCpu, block + before, bytes, nullptr));
}

// All are made in memory of operator new, whatever stands behind them.
void Storage::let_go() noexcept {
  this->~Storage();
  ::operator delete(this);
}

}  // namespace distrun::tensor
