#pragma once
// Where a helper stands that does not answer, a lister or a zygote: the stacks of it and of its children, as text for
// an error; or where it has crashed. Lives on: the coordinator's loop.
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include <distrun/common/board/dump_area.hpp>
#include <distrun/runner/launch/stack_collector.hpp>
#include <distrun/runner/proc/exit_status.hpp>

namespace distrun::launch {

class HelperLook {
 public:
  // `on_text` is called once, from the loop, within the time that a look at ranks may take, unless this is destroyed
  // before; it may destroy it. The text is lines, each after a newline; empty if there is nothing to see.
  HelperLook(io::Loop& loop, const Probe::Program& probe, pid_t helper, std::function<void(std::string)> on_text);

  // The same of what a helper has written down as it crashed.
  HelperLook(io::Loop& loop, const Probe::Program& probe, wire::RawStacks raw,
             std::function<void(std::string)> on_text);

  // Whether it is the process of the look at work.
  bool owns(pid_t pid) const noexcept {
    return (collector_ && collector_->probe_pid() == pid) || (naming_ && naming_->pid() == pid);
  }

 private:
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);  // for what is posted
  std::unique_ptr<StackCollector> collector_;
  std::unique_ptr<Probe> naming_;
};

// Of a helper that a signal has ended: "was killed by signal 11 (SIGSEGV) " + `when`; or, if an exception has led
// there, "threw std::runtime_error " + `when` + ": no config".
std::string describe_crash(const proc::ExitStatus& status, const std::optional<board::Dump>& dump,
                           const std::string& when);

}  // namespace distrun::launch
