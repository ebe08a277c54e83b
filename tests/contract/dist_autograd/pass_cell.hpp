#pragma once
// Four ranks that are processes compute and differentiate with each other, and one is killed somewhere in it. The
// others hear of it by its name, end their session, begin another one among themselves in the same processes, and go
// on.
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

  // "1|pass|0.01|Disconnected: ..." of what has not ended well, and "1|again|..." of what they do without it.
  Lines conduct() const;

 private:
  void init(int rank, const std::string& part, int number, int ranks) const;
  void be_victim(const Post& post) const;
  void be_survivor(int rank, const Post& post) const;
  void pass(int number, int round, int ranks) const;
};

}  // namespace distrun::dist_autograd::testing
