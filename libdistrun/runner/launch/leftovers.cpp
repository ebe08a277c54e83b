#include <distrun/runner/launch/leftovers.hpp>

#include <iterator>

#include <distrun/runner/evidence/proc/task_state.hpp>
#include <distrun/runner/proc/pidfd.hpp>
#include <distrun/runner/proc/process_tree.hpp>

namespace distrun::launch {

std::vector<Leftover> Leftovers::find() const {
  constexpr int kPasses = 100;
  std::vector<Leftover> found;
  // Repeat while anything was found: a process that has just ended may have left a child, which became ours after the
  // list was read.
  for (int pass = 0; pass < kPasses && found.empty(); ++pass) {
    bool any = false;
    for (const pid_t pid : proc::own_children()) {
      if (!is_leftover_(pid)) continue;
      any = true;
      const bool gone = proc::is_zombie(pid) && proc::try_reap(pid).has_value();
      if (!gone) found.push_back({proc::describe_process(pid), proc::is_ending(pid), pid});
    }
    if (!any) break;
  }
  return found;
}

std::vector<base::HeldName> Leftovers::held(const std::vector<std::string>& directories) const {
  std::vector<base::HeldName> held;
  for (const Leftover& leftover : find()) {
    std::vector<base::HeldName> names = base::held_names(std::to_string(leftover.pid), directories);
    std::move(names.begin(), names.end(), std::back_inserter(held));
  }
  return held;
}

EndedLeftovers Leftovers::end() const {
  constexpr int kRounds = 5;
  proc::Endings endings = proc::end_children(is_leftover_, kRounds);
  return {std::move(endings.named), static_cast<int>(endings.left.size())};
}

}  // namespace distrun::launch
