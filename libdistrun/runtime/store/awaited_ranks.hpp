#pragma once
// Who writes the keys that somebody waits for. A store can't know that; whoever waits mostly does.
//
//   const stores::AwaitedRanks awaited({2});
//   const std::string address = store->get("address/2");  // waits for rank 2 in store get "address/2"
#include <vector>

namespace distrun::stores {

// For a scope: what the calling thread waits for in stores must come from each of these ranks. Its waits name them, so
// that the report of a hang blames who does not come instead of those who wait. One within another replaces it.
class AwaitedRanks {
 public:
  explicit AwaitedRanks(std::vector<int> ranks) noexcept;
  ~AwaitedRanks();
  AwaitedRanks(const AwaitedRanks&) = delete;
  AwaitedRanks& operator=(const AwaitedRanks&) = delete;

  // The calling thread's; null: it has not said for whom it waits.
  static const std::vector<int>* current() noexcept;

 private:
  const std::vector<int> ranks_;
  const std::vector<int>* const outer_;
};

}  // namespace distrun::stores
