#include <distrun/runner/evidence/stacks/condition.hpp>

#include <distrun/runner/evidence/stacks/wait_labels.hpp>

namespace distrun::evidence {
bool is_on_the_move(wire::Motion motion) noexcept {
  return motion == wire::Motion::Spinning || motion == wire::Motion::Moving || motion == wire::Motion::Running;
}

std::string_view name_of_call(std::string_view call) { return call.substr(0, call.find('(')); }

std::string_view call_of(const wire::ThreadStack& thread) {
  if (!thread.task.syscall.empty()) return thread.task.syscall;
  return thread.wait.call.empty() ? thread.task.wchan : thread.wait.call;
}

std::string why_no_stack(const Process& process, const std::string& said) {
  if (!said.empty()) return said;
  if (!process.why_none.empty()) return process.why_none;
  std::string text;
  for (const Source& source : process.sources) {
    if (source.answered) continue;
    text += (text.empty() ? "" : "; ") + source.name + " did not answer";
    if (!source.why_not.empty()) text += ": " + source.why_not;
  }
  return text.empty() ? "no stack arrived" : text;
}

Condition condition_of(const Process& process, const wire::ThreadStack& thread) {
  using wire::Motion;
  Condition condition;
  const auto state = static_cast<char>(thread.task.state);
  const bool is_on_its_way = is_on_the_move(thread.motion);
  const bool is_held = state == 'D' || state == 'T' || state == 'Z' || state == 'X';
  condition.crashed = thread.crashed;
  condition.threw = process.threw;
  condition.motion = thread.motion;
  if (!is_on_its_way) {
    condition.state = thread.motion == Motion::Waiting && !is_held ? 'S' : state;
    condition.call = name_of_call(call_of(thread));
  }
  if (thread.frames.empty()) condition.why_none = without_numbers(why_no_stack(process, thread.why_none));
  if (thread.frames.empty() || state == 'D') condition.kernel_stack = thread.task.kernel_stack;
  return condition;
}

Condition condition_of(const Process& process) {
  Condition condition;
  condition.is_thread = false;
  condition.why_none = without_numbers(why_no_stack(process, ""));
  return condition;
}

}  // namespace distrun::evidence
