#pragma once
// Memory of one device, taken from the driver in large segments and handed out in blocks. A released block joins its
// free neighbours and waits in the list of its stream; the next request on that stream takes the smallest block that
// fits, and the rest of the block stays free.
//
//   segment (one driver allocation, one stream)   | in use | free      | in use | waiting | free |
//
// Requests up to 1 MiB have separate segments, so that small blocks don't pin large ones. Thread-safe.
#include <array>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <vector>

#include <distrun/common/base/process_mark.hpp>
#include <distrun/runtime/device/memory/memory.hpp>
#include <distrun/runtime/device/memory/stream_uses.hpp>

namespace distrun::device {

class CachingAllocator {
 public:
  // `driver` must outlive it.
  CachingAllocator(Driver& driver, int device);
  // Returns all memory to the driver; no block may be in use.
  ~CachingAllocator();

  // See allocate(); the result must not outlive the allocator.
  std::unique_ptr<Memory> allocate(std::size_t bytes, StreamId stream, base::Location site);
  AllocatorStatistics statistics() const;
  void reset_peak();
  void empty_cache();

 private:
  friend class CachedMemory;

  struct Block {
    std::byte* begin = nullptr;
    std::size_t bytes = 0;
    StreamId stream{};
    bool is_small = false;
    bool is_free = false;     // in the free list
    Block* before = nullptr;  // neighbours in the segment
    Block* behind = nullptr;
    StreamUses uses;  // by other streams
  };
  struct BySize {
    bool operator()(const Block* a, const Block* b) const noexcept {
      return a->bytes != b->bytes ? a->bytes < b->bytes : a->begin < b->begin;
    }
  };
  using FreeList = std::set<Block*, BySize>;

  // Returns the smallest block that fits, or null.
  Block* take_free(std::size_t bytes, StreamId stream);
  Block* take_from_driver(std::size_t bytes, StreamId stream);
  void* ask_driver(std::size_t segment, std::size_t bytes);
  // Splits off the part after `bytes` as a separate block.
  void cut(Block& block, std::size_t bytes);
  void let_go(Block& block) noexcept;
  void make_free(Block& block);
  void join(Block& first, Block& second);
  void settle_waiting();
  void give_back_segments();
  FreeList& free_list(const Block& block) { return free_[block.stream][block.is_small]; }
  std::string why_full(std::size_t bytes) const;

  const base::ProcessMark mark_;
  Driver& driver_;
  const int device_;
  mutable std::mutex mutex_;
  // Guarded by mutex_.
  EventPool events_;
  std::map<StreamId, std::array<FreeList, 2>> free_;  // by size: large, small
  std::vector<Block*> waiting_;                       // released, but used by other streams
  std::set<std::byte*> segments_;
  AllocatorStatistics statistics_;
};

}  // namespace distrun::device
