#include <distrun/common/base/leave_to_parent.hpp>

#include <atomic>

namespace distrun::base::detail {
namespace {

struct Kept {
  std::shared_ptr<const void> owned;
  Kept* next = nullptr;
};

// Never destroyed.
constinit std::atomic<Kept*> all{nullptr};

}  // namespace

void keep_for_good(std::shared_ptr<const void> owned) {
  auto* const kept = new Kept{std::move(owned), all.load(std::memory_order_relaxed)};
  while (!all.compare_exchange_weak(kept->next, kept, std::memory_order_release, std::memory_order_relaxed)) {
  }
}

}  // namespace distrun::base::detail
