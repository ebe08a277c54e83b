#pragma once
// The process of `distrun node`: joins the coordinator, runs ranks for it, and cleans up when the coordinator says so,
// or when its link or its standard input is closed.
#include <string>
#include <vector>

#include <distrun/runner/launch/local_node.hpp>
#include <distrun/runner/nodes/dial.hpp>
#include <distrun/runner/proc/guard.hpp>

namespace distrun::nodes {

// The first line of a node's standard input.
struct NodeSecret {
  std::string secret;
  std::string run_id;
};
// Reads a line "SECRET RUN_ID". Blocks for at most 30 s. Throws Error{InvalidArgument} if there is no such line.
NodeSecret read_node_secret(int fd);

struct NodeSettings {
  std::vector<Place> places;
  std::string host;
  std::string version;
  NodeSecret secret;
  launch::LocalNodeOptions node;
  launch::Resources resources;
  proc::RunPlaces run;
  std::vector<std::string> host_variables;  // of programs, which override the coordinator's
  int input = 0;                            // its end says that the coordinator is gone
};

// Returns the exit code: 0, also for a run that fails, since the coordinator reports that. Throws Error if it cannot
// join.
int run_node(NodeSettings settings, proc::Coordinator under);

}  // namespace distrun::nodes
