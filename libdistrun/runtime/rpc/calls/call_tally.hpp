#pragma once
// Counts calls that were sent, or received: all of them, and those of each other worker.
#include <array>
#include <atomic>
#include <cstdint>
#include <vector>

#include <distrun/runtime/rpc/worker_info.hpp>

namespace distrun::rpc {

// Thread-safe.
class CallTally {
 public:
  static constexpr std::size_t kPeers = 1024;  // ids with separate counts; other ids count in all() only

  void add(WorkerId peer) noexcept { change(peer, 1); }
  void take_back(WorkerId peer) noexcept { change(peer, ~std::uint64_t{0}); }
  std::uint64_t all() const noexcept { return all_.load(); }
  // Returns the calls of each worker by its id, up to the last one that has any.
  std::vector<std::uint64_t> by_peer() const {
    std::vector<std::uint64_t> counts(peers_.begin(), peers_.end());
    while (!counts.empty() && counts.back() == 0) counts.pop_back();
    return counts;
  }

 private:
  void change(WorkerId peer, std::uint64_t by) noexcept {
    if (peer >= 0 && static_cast<std::size_t>(peer) < kPeers) {
      peers_[static_cast<std::size_t>(peer)].fetch_add(by, std::memory_order_relaxed);
    }
    all_.fetch_add(by);
  }

  std::atomic<std::uint64_t> all_{0};
  std::array<std::atomic<std::uint64_t>, kPeers> peers_{};
};

}  // namespace distrun::rpc
