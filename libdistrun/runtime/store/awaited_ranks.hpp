#pragma once
// Names the ranks that write the keys that a thread waits for. A store cannot know them; the waiting code mostly does.
//
//   const stores::AwaitedRanks awaited({2});
//   const std::string address = store->get("address/2");  // waits for rank 2 in store get "address/2"
#include <vector>

namespace distrun::stores {

// Scope guard. While it lives, the keys that the calling thread waits for in stores must come from each of these ranks.
// Its waits name them, so that the report of a hang blames the absent ranks instead of the waiting ones; so do errors
// of waits that time out. A nested guard replaces the outer one.
class AwaitedRanks {
 public:
  // `ranks` and `fatal` are rank numbers of the test. A wait throws base::PeerFailed if the process of a rank in
  // `fatal` has ended, as far as the board shows it: without these ranks the keys cannot arrive.
  explicit AwaitedRanks(std::vector<int> ranks, std::vector<int> fatal = {}) noexcept;
  ~AwaitedRanks();
  AwaitedRanks(const AwaitedRanks&) = delete;
  AwaitedRanks& operator=(const AwaitedRanks&) = delete;

  // Returns the innermost guard of the calling thread; null: it has not named any ranks.
  static const AwaitedRanks* current() noexcept;
  const std::vector<int>& ranks() const noexcept { return ranks_; }
  const std::vector<int>& fatal() const noexcept { return fatal_; }

 private:
  const std::vector<int> ranks_, fatal_;
  const AwaitedRanks* const outer_;
};

}  // namespace distrun::stores
