#pragma once
// Pinned memory of the host, kept by size for the next who asks: to get it from a driver takes as long as thousands of
// small copies. What copies of a stream still use (record_stream) waits for them.
// Any thread.
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include <distrun/device/allocator.hpp>
#include <distrun/device/stream_uses.hpp>

namespace distrun::device {

class PinnedCache {
 public:
  // `driver` must outlive it.
  explicit PinnedCache(Driver& driver) : events_(driver) {}
  // Everything goes back to the driver; nothing may be in use.
  ~PinnedCache();

  // What it returns must not outlive the cache. Throws Error{Overloaded, "OutOfMemoryError"}.
  std::unique_ptr<Memory> allocate(std::size_t bytes);

 private:
  friend class PinnedMemory;

  struct Block {
    void* begin = nullptr;
    std::size_t bytes = 0;  // a power of two
    StreamUses uses;
  };

  void let_go(std::unique_ptr<Block> block) noexcept;
  void settle_waiting();

  std::mutex mutex_;
  // Guarded by mutex_.
  EventPool events_;
  std::map<std::size_t, std::vector<std::unique_ptr<Block>>> free_;
  std::vector<std::unique_ptr<Block>> waiting_;
};

}  // namespace distrun::device
