#pragma once
// Where a helper stands that does not answer, a lister or a zygote: the stacks of it and of its children, as text for
// an error. Lives on: the coordinator's loop.
#include <functional>
#include <memory>
#include <string>

#include <distrun/runner/launch/stack_collector.hpp>

namespace distrun::launch {

class HelperLook {
 public:
  // `on_text` is called once, from the loop, within the time that a look at ranks may take, unless this is destroyed
  // before; it may destroy it. The text is lines, each after a newline; empty if there is nothing to see.
  HelperLook(io::Loop& loop, const Probe::Program& probe, pid_t helper, std::function<void(std::string)> on_text);

  // Whether it is the process of the look at work.
  bool owns(pid_t pid) const noexcept { return collector_.probe_pid() == pid; }

 private:
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);  // for what is posted
  StackCollector collector_;
};

}  // namespace distrun::launch
