#pragma once
// Four ranks in separate processes compute and differentiate together, and one is killed meanwhile. The others get
// errors with its name, end their session, begin another one in the same processes, and go on.
#include <string>

#include "../rpc/members.hpp"

namespace distrun::dist_autograd::testing {

using rpc::testing::Lines;
using rpc::testing::Post;

inline constexpr int kPassRanks = 4;

struct PassCell {
  unsigned long seed = 0;
  int victim = 0;
  int struck_at = 0;   // step of its agent
  std::string folder;  // for the store

  // Returns "1|pass|0.01|Disconnected: ..." for each failure, and "1|again|..." for the work without the victim.
  Lines conduct() const;

 private:
  void init(int rank, const std::string& part, int number, int ranks) const;
  void be_victim(const Post& post) const;
  void be_survivor(int rank, const Post& post) const;
  void pass(int number, int round, int ranks) const;
};

}  // namespace distrun::dist_autograd::testing
