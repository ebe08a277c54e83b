#include <distrun/runtime/device/memory/pinned_cache.hpp>

#include <algorithm>
#include <bit>

#include <distrun/common/base/error.hpp>
#include <distrun/runtime/device/byte_text.hpp>

namespace distrun::device {
namespace {

constexpr std::size_t kPinnedLeast = 512;
constexpr std::size_t kMost = std::size_t{1} << 46;

}  // namespace

class PinnedMemory final : public Memory {
 public:
  PinnedMemory(PinnedCache& cache, std::unique_ptr<PinnedCache::Block> block, std::size_t bytes)
      : Memory(kCpu, block->begin, bytes), cache_(cache), block_(std::move(block)) {}
  ~PinnedMemory() override { cache_.let_go(std::move(block_)); }

  void record_stream(StreamRef stream) override {
    if (stream == kNoStream) return;
    const std::lock_guard lock(cache_.mutex_);
    block_->uses.add(stream);
  }
  bool is_used_only_by(StreamRef) const override {
    const std::lock_guard lock(cache_.mutex_);
    return block_->uses.empty();
  }

 private:
  PinnedCache& cache_;
  std::unique_ptr<PinnedCache::Block> block_;
};

PinnedCache::~PinnedCache() {
  wait_for_all();
  give_back_free();
}

std::unique_ptr<Memory> PinnedCache::allocate(std::size_t bytes) {
  if (bytes > kMost) {
    throw Error(ErrorKind::Overloaded, "OutOfMemoryError",
                "the host cannot allocate " + byte_text(bytes) + " in one piece");
  }
  const std::size_t size = std::bit_ceil(std::max(bytes, kPinnedLeast));
  std::unique_ptr<Block> block = take_free(size);
  if (block == nullptr) {
    block = std::make_unique<Block>();
    block->bytes = size;
    block->begin = ask_driver(size);
  }
  return std::make_unique<PinnedMemory>(*this, std::move(block), bytes);
}

std::unique_ptr<PinnedCache::Block> PinnedCache::take_free(std::size_t bytes) {
  const std::lock_guard lock(mutex_);
  settle_waiting();
  if (waiting_bytes_ > waiting_most_) wait_for_all();
  std::vector<std::unique_ptr<Block>>& blocks = free_[bytes];
  if (blocks.empty()) return nullptr;
  std::unique_ptr<Block> block = std::move(blocks.back());
  blocks.pop_back();
  return block;
}

void* PinnedCache::ask_driver(std::size_t bytes) {
  Driver& driver = events_.driver();
  try {
    return driver.allocate_pinned(bytes);
  } catch (const base::Error& error) {
    if (error.kind() != ErrorKind::Overloaded) throw;
  }
  {
    const std::lock_guard lock(mutex_);
    wait_for_all();
    give_back_free();
  }
  return driver.allocate_pinned(bytes);
}

void PinnedCache::let_go(std::unique_ptr<Block> block) noexcept {
  if (mark_.is_inherited()) return;  // the memory is the parent's
  const std::lock_guard lock(mutex_);
  block->uses.close(events_);
  waiting_bytes_ += block->bytes;
  waiting_.push_back(std::move(block));
}

void PinnedCache::settle_waiting() {
  for (std::unique_ptr<Block>& block : waiting_) {
    if (!block->uses.is_over(events_, block->begin, block->bytes)) continue;
    waiting_bytes_ -= block->bytes;
    free_[block->bytes].push_back(std::move(block));
  }
  waiting_.erase(std::remove(waiting_.begin(), waiting_.end(), nullptr), waiting_.end());
}

void PinnedCache::wait_for_all() {
  for (const auto& block : waiting_) block->uses.wait(events_);
  settle_waiting();
}

void PinnedCache::give_back_free() {
  for (auto& [bytes, blocks] : free_) {
    for (const auto& block : blocks) events_.driver().free_pinned(block->begin);
    blocks.clear();
  }
}

}  // namespace distrun::device
