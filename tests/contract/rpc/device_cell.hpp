#pragma once
// Ranks that are processes and send each other tensors on virtual GPUs, whose stream order is checked.
#include <string>

#include "members.hpp"

namespace distrun::rpc::testing {

inline constexpr int kDeviceRanks = 3;

struct DeviceCell {
  unsigned long seed = 0;
  bool may_use_handles = true;
  int rounds = 40;
  int at_once = 4;     // of each round: how many tensors are summed at a time
  int victim = -1;     // nobody
  int struck_at = 0;   // step of its agent
  std::string folder;  // for the store

  // What has not ended well, as "1|calls|0.01|Disconnected: ...", "1|order|..." for each report of stream order,
  // "1|channel|ipc", and "1|again|..." of what they do without the victim.
  Lines conduct() const;

 private:
  void init(int rank, const std::string& part, int number, int ranks) const;
  void be_victim(const Post& post) const;
  void be_other(int rank, const Post& post) const;
};

}  // namespace distrun::rpc::testing
