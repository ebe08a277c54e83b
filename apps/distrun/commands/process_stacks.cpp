#include "process_stacks.hpp"

#include <utility>

#include <distrun/runner/proc/child.hpp>
#include <distrun/runner/proc/program.hpp>

namespace distrun::cli {

std::unique_ptr<launch::StackCollector> stacks_of_processes(io::Loop& loop, const std::vector<int>& pids,
                                                            int descendants, launch::OnStacks on_stacks) {
  std::vector<launch::StackCollector::Target> targets;
  for (const int pid : pids) targets.push_back({-1, pid});
  launch::StackOrder order;
  order.bound = std::chrono::seconds(3);
  order.descendants = descendants;
  return std::make_unique<launch::StackCollector>(
      loop, launch::Probe::Program{proc::program_beside("distrun-probe"), proc::inherited_environment()},
      std::move(targets), order, [](int) { return false; }, std::move(on_stacks));
}

}  // namespace distrun::cli
