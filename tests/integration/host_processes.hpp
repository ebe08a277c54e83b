#pragma once
// The processes of distrun in a run on hosts that are nodes of this machine.
#include <vector>

#include "support/sandbox.hpp"

namespace distrun::testing {

// The processes of distrun, without those of ranks.
struct ProcessesOfRun {
  pid_t guard = 0, coordinator = 0;
  std::vector<pid_t> node_guards, nodes;
};

inline ProcessesOfRun processes_of(const Sandbox& sandbox, const Running& running) {
  ProcessesOfRun found;
  found.guard = running.pid();
  const std::vector<ProcessInfo> all = sandbox.processes();
  const auto children_of = [&all](pid_t parent) {
    std::vector<pid_t> children;
    for (const ProcessInfo& each : all) {
      if (each.parent == parent && each.name == "distrun") children.push_back(each.pid);
    }
    return children;
  };
  for (const pid_t pid : children_of(found.guard)) found.coordinator = pid;
  if (found.coordinator == 0) return found;
  found.node_guards = children_of(found.coordinator);
  for (const pid_t guard : found.node_guards) {
    for (const pid_t pid : children_of(guard)) found.nodes.push_back(pid);
  }
  return found;
}

}  // namespace distrun::testing
