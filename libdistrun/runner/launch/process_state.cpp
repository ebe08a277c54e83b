#include <distrun/runner/launch/process_state.hpp>

#include <unistd.h>

#include <distrun/runner/evidence/proc/task_state.hpp>
#include <distrun/runner/proc/process_tree.hpp>

namespace distrun::launch {

ProcessState process_state_of(pid_t pid, const std::function<bool(pid_t)>& is_from_ranks) {
  ProcessState state;
  if (pid <= 0) return state;
  state.exists = !proc::threads_of(pid).empty();
  state.ends = proc::is_ending(pid);
  state.stopped = evidence::read_pulse(pid, pid).state == 'T';
  const pid_t tracer = evidence::tracer_of(pid);
  state.debugged = tracer > 0 && tracer != ::getpid() && !is_from_ranks(tracer);
  return state;
}

}  // namespace distrun::launch
