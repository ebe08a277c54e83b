#pragma once
// Who writes the keys that somebody waits for. A store can't know that; whoever waits mostly does.
//
//   const stores::AwaitedRanks awaited({2});
//   const std::string address = store->get("address/2");  // waits for rank 2 in store get "address/2"
#include <vector>

namespace distrun::stores {

// For a scope: what the calling thread waits for in stores must come from each of these ranks. Its waits name them, so
// that the report of a hang blames who does not come instead of those who wait, and so do the errors of waits that time
// out. One within another replaces it.
class AwaitedRanks {
 public:
  // A wait ends with base::PeerFailed if the process of a rank in `fatal` ends, as far as the board shows it: for those
  // without whom there is nothing to wait for, by their numbers in the test.
  explicit AwaitedRanks(std::vector<int> ranks, std::vector<int> fatal = {}) noexcept;
  ~AwaitedRanks();
  AwaitedRanks(const AwaitedRanks&) = delete;
  AwaitedRanks& operator=(const AwaitedRanks&) = delete;

  // The calling thread's; null: it has not said for whom it waits.
  static const AwaitedRanks* current() noexcept;
  const std::vector<int>& ranks() const noexcept { return ranks_; }
  const std::vector<int>& fatal() const noexcept { return fatal_; }

 private:
  const std::vector<int> ranks_, fatal_;
  const AwaitedRanks* const outer_;
};

}  // namespace distrun::stores
