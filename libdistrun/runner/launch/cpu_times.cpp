#include <distrun/runner/launch/cpu_times.hpp>

#include <vector>

#include <distrun/runner/evidence/proc/task_state.hpp>
#include <distrun/runner/proc/process_tree.hpp>

namespace distrun::launch {
namespace {

constexpr int kThreadsRead = 8192;

}  // namespace

void read_cpu_times_again(evidence::Stacks& stacks) {
  int left = kThreadsRead;
  stacks.times_are_later = true;
  for (evidence::Process& process : stacks.processes) {
    const bool is_here = process.host == 0;
    for (wire::ThreadStack& thread : process.threads) {
      thread.task.cpu_ns = is_here && left-- > 0 ? evidence::read_cpu_ns(process.pid, thread.task.tid) : 0;
    }
  }
}

std::optional<std::uint64_t> cpu_time_at_rest(pid_t pid) {
  std::uint64_t used = 0;
  int left = kThreadsRead;
  std::vector<pid_t> processes{pid};
  for (std::size_t i = 0; i < processes.size(); ++i) {
    const pid_t process = processes[i];  // the vector grows
    for (const pid_t thread : proc::threads_of(process)) {
      const evidence::Pulse pulse = evidence::read_pulse(process, thread);
      if (pulse.state == 'R' || left-- <= 0) return std::nullopt;
      used += pulse.cpu_ns;
    }
    for (const pid_t child : proc::children_of(process)) processes.push_back(child);
  }
  return used;
}

}  // namespace distrun::launch
