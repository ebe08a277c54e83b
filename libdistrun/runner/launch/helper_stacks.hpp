#pragma once
// Reads the stacks of a helper (lister or zygote) that does not answer, and of its children, as text for an error; or
// those of a helper that has crashed. Lives on: the coordinator's loop.
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include <distrun/common/board/dump_area.hpp>
#include <distrun/runner/launch/stack_collector.hpp>
#include <distrun/runner/proc/exit_status.hpp>

namespace distrun::launch {

class HelperStacks {
 public:
  // Calls `on_text` once, from the loop, within the time limit of a snapshot of ranks, unless this is destroyed first;
  // `on_text` may destroy it. Each line of the text follows a newline; the text is empty if there are no stacks.
  HelperStacks(io::Loop& loop, const Probe::Program& probe, pid_t helper, std::function<void(std::string)> on_text);

  // The same for the stacks that a helper has recorded as it crashed.
  HelperStacks(io::Loop& loop, const Probe::Program& probe, wire::RawStacks raw,
               std::function<void(std::string)> on_text);

  // Returns whether `pid` is the probe at work.
  bool owns(pid_t pid) const noexcept {
    return (collector_ && collector_->probe_pid() == pid) || (naming_ && naming_->pid() == pid);
  }

 private:
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);  // guards posted callbacks
  std::unique_ptr<StackCollector> collector_;
  std::unique_ptr<Probe> naming_;
};

// Describes a helper that a signal has ended: "was killed by signal 11 (SIGSEGV) " + `when`; or, if the reason was an
// exception, "threw std::runtime_error " + `when` + ": no config".
std::string describe_crash(const proc::ExitStatus& status, const std::optional<board::Dump>& dump,
                           const std::string& when);

}  // namespace distrun::launch
