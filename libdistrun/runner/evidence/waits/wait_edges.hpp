#pragma once
// Who waits on which: the waits of threads as edges between processes, and the circles among them. An edge claims
// only what was seen: a thread of `pid` can go on when any of `any_of` does something, or, if the wait is open, when
// something else happens that no process here brings about.
#include <sys/types.h>

#include <cstddef>
#include <string>
#include <vector>

#include <distrun/runner/evidence/waits/blocked_on.hpp>

namespace distrun::evidence {

struct WaitEdge {
  pid_t pid = 0;
  pid_t tid = 0;
  std::vector<pid_t> any_of;     // ascending, without `pid`; empty only if the process waits for itself alone
  bool open = false;             // a time limit, another machine, or a descriptor that is no connection, may end it too
  bool holds_other_end = false;  // it holds itself the end for whose data or closing it waits: no end of file comes
  bool alone = false;            // the process has no other thread
  std::string because;           // "read(5) from pipe 8812", "wait4(4712)"
};

// One for each thread that waits for a process, in the order of `blocked`.
std::vector<WaitEdge> wait_edges(const Connections& all, const std::vector<Blocked>& blocked);

// Only itself could end its wait: with no other thread it never will.
bool waits_for_itself(const WaitEdge& edge);

// Indices into `edges`: each waits for the process of the next, the last for that of the first, and none has another
// way out. Every circle found begins with its lowest process; there may be more that share processes with these.
std::vector<std::vector<std::size_t>> wait_cycles(const std::vector<WaitEdge>& edges);

// Processes of one thread of which each waits for others of these only, so that none can go on, whichever of several
// it waits for. Holds the circles of such processes and all that wait for them; ascending.
std::vector<pid_t> wait_knot(const std::vector<WaitEdge>& edges);

// Processes that others wait for and that do not themselves wait for one, or have another way out: where to look first.
struct WaitRoot {
  pid_t pid = 0;
  std::vector<pid_t> waiting;  // directly or not, without another way out; ascending
};
std::vector<WaitRoot> wait_roots(const std::vector<WaitEdge>& edges);

}  // namespace distrun::evidence
