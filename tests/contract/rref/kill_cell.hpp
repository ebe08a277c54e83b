#pragma once
// A storm of references among four ranks in separate processes, one of which is killed or stopped meanwhile: it is a
// holder, an owner and a middle-man at once, as all ranks are.
#include <string>

#include "../rpc/members.hpp"
#include "storm.hpp"

namespace distrun::rref::testing {

using rpc::testing::Lines;
using rpc::testing::Post;

inline constexpr int kKillRanks = 4;
// Limit of a call if one may be stopped.
inline const base::Nanoseconds kStoppedCall = distrun::testing::scaled(std::chrono::milliseconds(500));
inline constexpr base::Nanoseconds kKillShutdown = std::chrono::milliseconds(700);

struct KillCell {
  unsigned long seed = 0;
  int victim = 0;
  bool is_stopped = false;   // and continued after the storm; else killed
  bool is_graceful = false;  // the shutdown
  int struck_at = 0;         // step of its agent
  int references = 160;      // of each rank
  std::string folder;        // for the store

  // Returns "1|fetch|0.01|Disconnected: ..." for each failure, and "1|phase|..." for each phase of each survivor.
  Lines conduct() const;

 private:
  void init(int rank, const char* part) const;
  void be_victim(const Post& post) const;
  void be_survivor(int rank, const Post& post) const;
  void live(int rank, const Post& post) const;
  void use_old(const Storm& storm, const Post& post) const;
  void use_new(int rank, const Post& post) const;
  void look(const Post& post) const;
};

}  // namespace distrun::rref::testing
