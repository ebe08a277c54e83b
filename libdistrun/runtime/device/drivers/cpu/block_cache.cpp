#include <distrun/runtime/device/drivers/cpu/block_cache.hpp>

#include <algorithm>
#include <cstdlib>
#include <mutex>

namespace distrun::device {
namespace {

constexpr std::size_t kLeast = std::size_t{128} << 10;     // malloc() keeps smaller blocks itself
constexpr std::size_t kMostKept = std::size_t{192} << 20;  // total bytes
constexpr std::size_t kMostBlocks = 16;

struct Block {
  void* memory = nullptr;
  std::size_t size = 0;
};

std::mutex mutex;
Block kept[kMostBlocks];  // guarded by mutex; the oldest first
std::size_t count = 0;    // guarded by mutex
std::size_t bytes_kept = 0;

// Requires the lock.
Block removed(std::size_t at) noexcept {
  const Block block = kept[at];
  std::move(kept + at + 1, kept + count, kept + at);
  --count;
  bytes_kept -= block.size;
  return block;
}

// Returns a block that is not much larger than requested. Takes the newest, since it may still be in the CPU's caches.
Block kept_block(std::size_t bytes) noexcept {
  const std::lock_guard lock(mutex);
  for (std::size_t i = count; i-- > 0;) {
    if (kept[i].size >= bytes && kept[i].size - bytes <= bytes / 4) return removed(i);
  }
  return {};
}

// A sanitizer finds uses of freed memory only if it is really freed.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kKeeps = false;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
constexpr bool kKeeps = false;
#else
constexpr bool kKeeps = true;
#endif
#else
constexpr bool kKeeps = true;
#endif

}  // namespace

void* take_block(std::size_t bytes, std::size_t& size) noexcept {
  size = bytes;
  if (bytes >= kLeast) {
    if (const Block block = kept_block(bytes); block.memory != nullptr) {
      size = block.size;
      return block.memory;
    }
  }
  void* memory = std::malloc(bytes);
  if (memory != nullptr || !kKeeps) return memory;
  free_kept_blocks();
  return std::malloc(bytes);
}

void give_block(void* block, std::size_t size) noexcept {
  if (!kKeeps || size < kLeast || size > kMostKept) return std::free(block);
  Block over[kMostBlocks];
  std::size_t many = 0;
  {
    const std::lock_guard lock(mutex);
    while (count == kMostBlocks || bytes_kept + size > kMostKept) over[many++] = removed(0);
    kept[count++] = {block, size};
    bytes_kept += size;
  }
  for (std::size_t i = 0; i < many; ++i) std::free(over[i].memory);
}

void free_kept_blocks() noexcept {
  const std::lock_guard lock(mutex);
  while (count > 0) std::free(removed(count - 1).memory);
}

}  // namespace distrun::device
