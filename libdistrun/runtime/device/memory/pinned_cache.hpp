#pragma once
// Pinned host memory, cached by size: allocating it from a driver takes as long as thousands of small copies. Blocks
// that copies of a stream still use (record_stream) are reused after them. Thread-safe.
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include <distrun/common/base/process_mark.hpp>
#include <distrun/runtime/device/memory/memory.hpp>
#include <distrun/runtime/device/memory/stream_uses.hpp>

namespace distrun::device {

class PinnedCache {
 public:
  // `driver` must outlive it. While more than `waiting_most` bytes wait for streams, allocate() waits for them too.
  explicit PinnedCache(Driver& driver, std::size_t waiting_most = SIZE_MAX)
      : waiting_most_(waiting_most), events_(driver) {}
  // Returns all memory to the driver; no block may be in use.
  ~PinnedCache();

  // The result must not outlive the cache. If the driver has no memory, cached blocks are returned to it, and waiting
  // ones are awaited; then throws Error{Overloaded, "OutOfMemoryError"}.
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
  void wait_for_all();
  void give_back_free();
  std::unique_ptr<Block> take_free(std::size_t bytes);
  void* ask_driver(std::size_t bytes);

  const base::ProcessMark mark_;
  const std::size_t waiting_most_;
  std::mutex mutex_;
  // Guarded by mutex_.
  EventPool events_;
  std::size_t waiting_bytes_ = 0;
  std::map<std::size_t, std::vector<std::unique_ptr<Block>>> free_;
  std::vector<std::unique_ptr<Block>> waiting_;
};

}  // namespace distrun::device
