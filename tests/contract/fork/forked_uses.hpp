#pragma once
// Tries in forked processes to use what a rank has open. Two ranks, each a process, open something together; rank 0
// forks a child for each use, which tries it, destroys its copy of all that is open, and exits. Then the ranks go on
// with what they have open, and close it.
#include <functional>
#include <string>
#include <vector>

#include "../rpc/members.hpp"

namespace distrun::testing {

struct Use {
  std::string name;
  std::function<void()> call;
  bool works = false;  // else it is refused
};

// The functions hold all that a rank has open: when they are destroyed, it is closed.
struct Opened {
  std::vector<Use> uses;        // of rank 0
  std::function<void()> work;   // by both ranks, after the children
  std::function<void()> close;  // by both
};
using Open = std::function<Opened(int rank, const std::string& folder)>;

struct Tried {
  std::string use;
  bool works = false;  // it is to
  double seconds = 0;
  std::string text;   // what it has thrown, "done", or how the child has ended without a word
  std::string ended;  // "exited with 0"
};
struct TriedByRank {
  int pid = 0;  // of rank 0
  std::vector<Tried> tried;
  std::vector<std::string> faults;  // what else went wrong, of both ranks
};

TriedByRank try_in_children(const Open& open);
// Of each use: it is refused within a second with the process that opened it, or it works; and the ranks go on.
void check_children(const Open& open);

}  // namespace distrun::testing
