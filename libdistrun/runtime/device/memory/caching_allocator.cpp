#include <distrun/runtime/device/memory/caching_allocator.hpp>

#include <algorithm>

#include <distrun/common/base/check.hpp>
#include <distrun/common/base/error.hpp>
#include <distrun/runtime/device/byte_text.hpp>

namespace distrun::device {
namespace {

constexpr std::size_t kMiB = std::size_t{1} << 20;
constexpr std::size_t kRound = 512;
constexpr std::size_t kSmallMax = kMiB;  // largest request served from small segments
constexpr std::size_t kSmallSegment = 2 * kMiB;
constexpr std::size_t kLargeSegment = 20 * kMiB;  // for requests up to half of it
constexpr std::size_t kSegmentRound = 2 * kMiB;   // for larger requests
constexpr std::size_t kBytesMax = std::size_t{1} << 48;

std::size_t round_up(std::size_t bytes, std::size_t unit) { return (bytes + unit - 1) / unit * unit; }

std::size_t segment_for(std::size_t bytes) {
  if (bytes <= kSmallMax) return kSmallSegment;
  return bytes <= kLargeSegment / 2 ? kLargeSegment : round_up(bytes, kSegmentRound);
}

}  // namespace

class CachedMemory final : public Memory {
 public:
  CachedMemory(CachingAllocator& allocator, CachingAllocator::Block& block, std::size_t bytes)
      : Memory(cuda(allocator.device_), block.begin, bytes), allocator_(allocator), block_(block) {}
  ~CachedMemory() override { allocator_.let_go(block_); }

  void record_stream(StreamRef stream) override {
    if (stream == kNoStream) return;
    const std::lock_guard lock(allocator_.mutex_);
    if (stream != StreamRef{allocator_.device_, block_.stream}) block_.uses.add(stream);
  }
  bool is_used_only_by(StreamRef stream) const override {
    const std::lock_guard lock(allocator_.mutex_);
    return stream == StreamRef{allocator_.device_, block_.stream} && block_.uses.empty();
  }

 private:
  CachingAllocator& allocator_;
  CachingAllocator::Block& block_;
};

CachingAllocator::CachingAllocator(Driver& driver, int device) : driver_(driver), device_(device), events_(driver) {}

CachingAllocator::~CachingAllocator() {
  for (Block* block : waiting_) block->uses.wait(events_);
  settle_waiting();
  give_back_segments();
  DISTRUN_ASSERT(segments_.empty());
}

std::unique_ptr<Memory> CachingAllocator::allocate(std::size_t bytes, StreamId stream, base::Location site) {
  const std::size_t wanted = std::max(round_up(std::min(bytes, kBytesMax), kRound), kRound);
  Block* block = nullptr;
  {
    const std::lock_guard lock(mutex_);
    if (bytes > kBytesMax) throw Error(ErrorKind::Overloaded, "OutOfMemoryError", why_full(bytes));
    if (!waiting_.empty()) settle_waiting();
    block = take_free(wanted, stream);
    ++statistics_.allocations;
    if (block != nullptr) {
      ++statistics_.reused;
    } else {
      block = take_from_driver(wanted, stream);
    }
    cut(*block, wanted);
    statistics_.bytes_in_use += block->bytes;
    statistics_.bytes_in_use_peak = std::max(statistics_.bytes_in_use_peak, statistics_.bytes_in_use);
  }
  driver_.block_taken(block->begin, block->bytes, site);
  return std::make_unique<CachedMemory>(*this, *block, bytes);
}

CachingAllocator::Block* CachingAllocator::take_free(std::size_t bytes, StreamId stream) {
  const auto lists = free_.find(stream);
  if (lists == free_.end()) return nullptr;
  FreeList& list = lists->second[bytes <= kSmallMax];
  Block wanted;
  wanted.bytes = bytes;
  const auto found = list.lower_bound(&wanted);
  if (found == list.end()) return nullptr;
  Block* block = *found;
  list.erase(found);
  block->is_free = false;
  statistics_.bytes_cached -= block->bytes;
  return block;
}

CachingAllocator::Block* CachingAllocator::take_from_driver(std::size_t bytes, StreamId stream) {
  const std::size_t segment = segment_for(bytes);
  auto block = std::make_unique<Block>();
  block->begin = static_cast<std::byte*>(ask_driver(segment, bytes));
  block->bytes = segment;
  block->stream = stream;
  block->is_small = bytes <= kSmallMax;
  segments_.insert(block->begin);
  ++statistics_.driver_allocations;
  return block.release();
}

void* CachingAllocator::ask_driver(std::size_t segment, std::size_t bytes) {
  try {
    return driver_.allocate(device_, segment);
  } catch (const base::Error& error) {
    if (error.kind() != ErrorKind::Overloaded) throw;
  }
  ++statistics_.retries;
  for (Block* block : waiting_) block->uses.wait(events_);
  settle_waiting();
  give_back_segments();
  try {
    return driver_.allocate(device_, segment);
  } catch (const base::Error& error) {
    if (error.kind() != ErrorKind::Overloaded) throw;
  }
  throw Error(ErrorKind::Overloaded, "OutOfMemoryError", why_full(bytes));
}

void CachingAllocator::cut(Block& block, std::size_t bytes) {
  const std::size_t over = block.bytes - bytes;
  if (over < (block.is_small ? kRound : kSmallMax)) return;
  auto* rest = new Block;
  rest->begin = block.begin + bytes;
  rest->bytes = over;
  rest->stream = block.stream;
  rest->is_small = block.is_small;
  rest->before = &block;
  rest->behind = block.behind;
  if (rest->behind != nullptr) rest->behind->before = rest;
  block.behind = rest;
  block.bytes = bytes;
  make_free(*rest);
}

void CachingAllocator::let_go(Block& block) noexcept {
  if (mark_.is_inherited()) return;  // the memory is the parent's
  driver_.block_freed(block.begin, block.bytes);
  const std::lock_guard lock(mutex_);
  ++statistics_.frees;
  statistics_.bytes_in_use -= block.bytes;
  if (block.uses.empty()) return make_free(block);
  block.uses.close(events_);
  waiting_.push_back(&block);
  statistics_.bytes_waiting += block.bytes;
}

void CachingAllocator::make_free(Block& block) {
  statistics_.bytes_cached += block.bytes;
  Block* whole = &block;
  if (block.behind != nullptr && block.behind->is_free) join(block, *block.behind);
  if (block.before != nullptr && block.before->is_free) {
    whole = block.before;
    free_list(*whole).erase(whole);
    whole->is_free = false;
    join(*whole, block);
  }
  whole->is_free = true;
  free_list(*whole).insert(whole);
}

// Deletes `second`.
void CachingAllocator::join(Block& first, Block& second) {
  if (second.is_free) free_list(second).erase(&second);
  first.bytes += second.bytes;
  first.behind = second.behind;
  if (first.behind != nullptr) first.behind->before = &first;
  delete &second;
}

void CachingAllocator::settle_waiting() {
  const auto over = [this](Block* block) {
    if (!block->uses.is_over(events_, block->begin, block->bytes)) return false;
    statistics_.bytes_waiting -= block->bytes;
    make_free(*block);
    return true;
  };
  waiting_.erase(std::remove_if(waiting_.begin(), waiting_.end(), over), waiting_.end());
}

void CachingAllocator::give_back_segments() {
  for (auto& [stream, lists] : free_) {
    for (FreeList& list : lists) {
      for (auto at = list.begin(); at != list.end();) {
        Block* block = *at;
        if (block->before != nullptr || block->behind != nullptr) {
          ++at;
          continue;
        }
        at = list.erase(at);
        segments_.erase(block->begin);
        statistics_.bytes_cached -= block->bytes;
        driver_.free(device_, block->begin);
        delete block;
      }
    }
  }
}

std::string CachingAllocator::why_full(std::size_t bytes) const {
  std::size_t largest = 0;
  for (const auto& [stream, lists] : free_) {
    for (const FreeList& list : lists) largest = std::max(largest, list.empty() ? 0 : (*list.rbegin())->bytes);
  }
  std::string text = to_string(cuda(device_)) + " is out of memory: " + byte_text(bytes) + " are requested; of " +
                     byte_text(driver_.properties(device_).memory_bytes) + " in all " +
                     byte_text(driver_.free_bytes(device_)) + " are free. Of this process's, " +
                     byte_text(statistics_.bytes_in_use) + " are in use";
  text += ", " + byte_text(statistics_.bytes_waiting) + " are freed but still used by streams, and " +
          byte_text(statistics_.bytes_cached) + " are cached";
  if (largest > 0) text += ", in blocks of at most " + byte_text(largest) + " beside blocks in use";
  return text;
}

AllocatorStatistics CachingAllocator::statistics() const {
  const std::lock_guard lock(mutex_);
  return statistics_;
}

void CachingAllocator::reset_peak() {
  const std::lock_guard lock(mutex_);
  statistics_.bytes_in_use_peak = statistics_.bytes_in_use;
}

void CachingAllocator::empty_cache() {
  const std::lock_guard lock(mutex_);
  settle_waiting();
  give_back_segments();
}

}  // namespace distrun::device
