#pragma once
// Represents the waits of threads as edges between processes, and finds cycles. An edge claims only that a thread of
// `pid` can continue when any of `any_of` acts or, if it is open, on an event that no process here causes.
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
  bool open = false;             // a timeout, another machine, or a descriptor that is not a connection may also end it
  bool holds_other_end = false;  // it holds the other end itself, so it will not see an end of file
  bool alone = false;            // the process has no other thread
  std::string because;           // "read(5) from pipe 8812", "wait4(4712)"
};

// Returns whether a timeout, another machine, or a descriptor that is not a connection may end the wait.
bool may_end_otherwise(const Connections& all, const Blocked& blocked);

// Returns an edge for each thread that waits for a process, in the order of `blocked`.
std::vector<WaitEdge> wait_edges(const Connections& all, const std::vector<Blocked>& blocked);

// Returns whether only the process itself could end the wait: if it has no other thread, the wait never ends.
bool waits_for_itself(const WaitEdge& edge);

// Returns cycles as indices into `edges`: each edge waits for the process of the next, the last for that of the first,
// and none can end otherwise. A cycle begins with its lowest process. Further cycles may share processes with these.
std::vector<std::vector<std::size_t>> wait_cycles(const std::vector<WaitEdge>& edges);

// Returns the single-threaded processes that wait only for each other, so that none can continue, even if a wait has
// several targets. Includes cycles of such processes and all that wait for them; ascending.
std::vector<pid_t> wait_knot(const std::vector<WaitEdge>& edges);

// A process that others wait for, with no wait that only other processes can end: the place to look first.
struct WaitRoot {
  pid_t pid = 0;
  std::vector<pid_t> waiting;  // directly or indirectly, with no other way to continue; ascending
};
std::vector<WaitRoot> wait_roots(const std::vector<WaitEdge>& edges);

}  // namespace distrun::evidence
