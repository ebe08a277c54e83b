#pragma once
// Ranks of which one is killed while the others wait in an operation: what each of the others is told.
//
//   all        ready -> ...                            the victim does no more
//   survivors  the operation -> wait in it -> killed -> error
//
// Each rank shows itself on a board, as ranks of a runner do, and shows its waits there: so the victim is killed when
// the others wait for it, and not before.
#include <functional>
#include <string>
#include <vector>

#include "../rpc/members.hpp"

namespace distrun::testing::deaths {

inline constexpr int kRanks = 4, kVictim = 2;

// What a survivor does; in a process of its own. Set up by opening(), before the victim is killed.
using Operation = std::function<void()>;
struct Case {
  const char* name;
  // Of the victim too, whose operation is not called.
  std::function<Operation(int rank, const std::string& folder)> open;
  bool names_ranks = true;        // by their numbers; else workers by their names
  std::vector<int> idle = {};     // ranks that have nothing to do with it
  bool is_struck_before = false;  // the victim is killed before the others begin to wait
};

// Returns the same case with ranks 0 and 1 on host a, and the others, the victim among them, on host b.
Case across_hosts(Case tested);

// Runs the cases beside each other, and checks that each survivor's error names the victim, its process, and no other
// rank as the cause; that it is no timeout; and that it comes within a bound.
void check(const std::vector<Case>& cases);

}  // namespace distrun::testing::deaths
