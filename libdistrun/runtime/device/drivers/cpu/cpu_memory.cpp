#include <distrun/runtime/device/drivers/cpu/cpu_memory.hpp>

#include <sys/mman.h>

#include <new>

#include <distrun/common/base/error.hpp>
#include <distrun/runtime/device/drivers/cpu/block_cache.hpp>

namespace distrun::device {
namespace {

constexpr std::size_t kAlignment = 64;  // a cache line, and the widest vector
constexpr std::size_t kHugePage = std::size_t{2} << 20;

std::byte* aligned(void* memory, std::size_t alignment) {
  const auto address = reinterpret_cast<std::uintptr_t>(memory);
  return reinterpret_cast<std::byte*>((address + alignment - 1) / alignment * alignment);
}

// Stored at the beginning of its block, followed by the bytes.
class CpuMemory final : public Memory {
 public:
  CpuMemory(void* data, std::size_t bytes, std::size_t block_size)
      : Memory(kCpu, data, bytes), block_size_(block_size) {}
  void record_stream(StreamRef) override {}  // asynchronous work on it keeps it alive
  bool is_used_only_by(StreamRef) const override { return true; }

  static void* operator new(std::size_t, void* at) noexcept { return at; }
  static void operator delete(CpuMemory* memory, std::destroying_delete_t) noexcept {
    const std::size_t size = memory->block_size_;
    memory->~CpuMemory();
    give_block(memory, size);
  }
  static void operator delete(void*, void*) noexcept {}

 private:
  const std::size_t block_size_;
};

}  // namespace

std::unique_ptr<Memory> allocate_on_cpu(std::size_t bytes) {
  const bool is_large = bytes >= 2 * kHugePage;
  const std::size_t alignment = is_large ? kHugePage : kAlignment;
  const std::size_t whole = sizeof(CpuMemory) + alignment + bytes;
  std::size_t size = 0;
  void* block = whole > bytes ? take_block(whole, size) : nullptr;
  if (block == nullptr) {
    throw Error(ErrorKind::Overloaded, "OutOfMemoryError",
                "the host cannot allocate " + std::to_string(bytes) + " bytes of memory in one piece");
  }
  std::byte* data = aligned(static_cast<std::byte*>(block) + sizeof(CpuMemory), alignment);
  // Transparent huge pages, if the kernel agrees, cause fewer faults on the first touch.
  if (is_large) ::madvise(data, bytes / kHugePage * kHugePage, MADV_HUGEPAGE);
  return std::unique_ptr<Memory>(new (block) CpuMemory(bytes > 0 ? data : nullptr, bytes, size));
}

}  // namespace distrun::device
