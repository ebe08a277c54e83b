#pragma once
// Tries in forked processes to use what a rank has open. Two ranks, each a process, open something together; rank 0
// forks a child for each use, which tries it, destroys its copy of everything open, and exits. Then the ranks go on
// with what they have open, and close it.
#include <functional>
#include <string>
#include <vector>

#include "../rpc/members.hpp"

namespace distrun::testing {

struct Use {
  std::string name;
  std::function<void()> call;
  bool works = false;  // else it must be refused
};

// The functions own everything that a rank has open; destroying them closes it.
struct Opened {
  std::vector<Use> uses;        // on rank 0
  std::function<void()> work;   // on both ranks, after the children
  std::function<void()> close;  // on both ranks
};
using Open = std::function<Opened(int rank, const std::string& folder)>;

struct Tried {
  std::string use;
  bool works = false;  // expected to work
  double seconds = 0;
  std::string text;   // the exception, "done", or how the child has ended without a result
  std::string ended;  // "exited with 0"
};
struct TriedByRank {
  int pid = 0;  // of rank 0
  std::vector<Tried> tried;
  std::vector<std::string> faults;  // other failures of both ranks
};

TriedByRank try_in_children(const Open& open);
// Checks that each use works or is refused within a second with the process that opened it, and that the ranks go on.
void check_children(const Open& open);

}  // namespace distrun::testing
