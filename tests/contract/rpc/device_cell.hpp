#pragma once
// Ranks that are processes and send each other tensors on virtual GPUs, with checks of stream order.
#include <string>

#include "members.hpp"

namespace distrun::rpc::testing {

inline constexpr int kDeviceRanks = 3;

struct DeviceCell {
  unsigned long seed = 0;
  bool may_use_handles = true;
  int rounds = 40;
  int at_once = 4;     // tensors summed concurrently in each round
  int victim = -1;     // -1: no victim
  int struck_at = 0;   // step of its agent
  std::string folder;  // for the store

  // Returns "1|calls|0.01|Disconnected: ..." for each failure, "1|order|..." for each report of stream order,
  // "1|channel|ipc", and "1|again|..." for the work without the victim.
  Lines conduct() const;

 private:
  void init(int rank, const std::string& part, int number, int ranks) const;
  void be_victim(const Post& post) const;
  void be_other(int rank, const Post& post) const;
};

}  // namespace distrun::rpc::testing
