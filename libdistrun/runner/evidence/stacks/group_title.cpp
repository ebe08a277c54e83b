#include <distrun/runner/evidence/stacks/group_title.hpp>

#include <algorithm>

#include <distrun/common/base/text.hpp>
#include <distrun/runner/evidence/stacks/frame_class.hpp>
#include <distrun/runner/evidence/stacks/frame_name.hpp>

namespace distrun::evidence {
namespace {

constexpr std::size_t kNameMax = 60;      // bytes of the name of a process, thread or system call
constexpr std::size_t kReasonMax = 300;   // of the reason for a missing stack
constexpr std::size_t kWaitMax = 160;     // of the description of a wait
constexpr std::size_t kWaitsMax = 8;      // different ones of a group
constexpr std::size_t kThreadIdsMax = 4;  // listed individually
constexpr std::size_t kKernelLinesMax = 12;

std::string on_host(const std::string& host) { return host.empty() ? "" : " on " + host; }

std::string name_of_process(const Stacks& stacks, const Process& process) {
  if (process.of_rank >= 0) {
    return "rank " + std::to_string(process.of_rank) + "'s child " + std::to_string(process.pid) + " (" +
           base::one_line(process.command, kNameMax) + ")" + on_host(stacks.hosts.of(process.of_rank));
  }
  const std::string pid = "process " + std::to_string(process.pid);
  return process.command.empty() ? pid : pid + " \"" + base::one_line(process.command, kNameMax) + "\"";
}

// Returns the ranks that have started these processes, each once.
std::vector<int> starters_of(const std::vector<const Process*>& processes) {
  std::vector<int> ranks;
  for (const Process* process : processes) ranks.push_back(process->of_rank);
  std::sort(ranks.begin(), ranks.end());
  ranks.erase(std::unique(ranks.begin(), ranks.end()), ranks.end());
  return ranks;
}

// ---- threads

// Threads of a pool have numbered names: "worker-*" stands for all of them.
std::string pattern_of(const std::string& name) {
  std::string pattern;
  for (const char c : base::one_line(name, kNameMax)) {
    const bool is_digit = c >= '0' && c <= '9';
    if (!is_digit) pattern += c;
    if (is_digit && !pattern.ends_with('*')) pattern += '*';
  }
  return pattern;
}

// Returns the threads' common name, else the common pattern of their names, else an empty string.
std::string shared_name(const std::vector<const wire::ThreadStack*>& threads) {
  const std::string& first = threads.front()->task.name;
  const auto all = [&](auto&& is_alike) { return std::all_of(threads.begin(), threads.end(), is_alike); };
  if (all([&](const auto* thread) { return thread->task.name == first; })) return base::one_line(first, kNameMax);
  const std::string pattern = pattern_of(first);
  return all([&](const auto* thread) { return pattern_of(thread->task.name) == pattern; }) ? pattern : "";
}

std::string ids_of(const std::vector<const wire::ThreadStack*>& threads) {
  std::string text;
  for (const wire::ThreadStack* thread : threads) {
    text += (text.empty() ? "" : ", ") + std::to_string(thread->task.tid);
  }
  return text;
}

bool are_tasks(const std::vector<const wire::ThreadStack*>& threads) {
  return std::all_of(threads.begin(), threads.end(), [](const auto* thread) { return wire::is_task(*thread); });
}

std::string threads_text(const Stacks& stacks, const Group& group) {
  std::vector<const wire::ThreadStack*> others;  // than main threads
  for (const Holder& holder : group.holders) {
    const wire::ThreadStack* thread = thread_of(stacks, holder);
    if (thread == nullptr) return group.holders.size() == 1 ? "threads unknown" : "threads unknown";
    if (!is_main(stacks.processes[holder.process], *thread)) others.push_back(thread);
  }
  const std::size_t count = group.holders.size();
  if (others.empty()) return count == 1 ? "main thread" : "main threads";
  const std::string threads = std::to_string(count) + " threads";
  if (others.size() < count) return threads + ", " + std::to_string(count - others.size()) + " main";
  std::string name = shared_name(others);
  // An unnamed thread has its process's name.
  if (name == base::one_line(stacks.processes[group.holders.front().process].command, kNameMax)) name.clear();
  if (!name.empty()) name = " \"" + name + "\"";
  if (are_tasks(others)) return (count == 1 ? "asyncio task" : std::to_string(count) + " asyncio tasks") + name;
  if (count > kThreadIdsMax) return threads + name;
  return (count == 1 ? "thread " : "threads ") + ids_of(others) + name;
}

// ---- what they do

std::string name_of_state(char state) {
  switch (state) {
    case 'R': return "running";
    case 'S': return "sleeping";
    case 'D': return "uninterruptible";
    case 'T': return "stopped (SIGSTOP)";  // or stopped by a terminal, which ranks do not have
    case 't': return "stopped by a debugger";
    case 'Z':
    case 'X': return "ended";
    case 'I': return "idle";
    default: return "state unknown";
  }
}

// Returns whether a field that the condition ignores is equal for all holders.
template <class Field>
bool all_alike(const Stacks& stacks, const Group& group, Field&& field) {
  const wire::ThreadStack* first = thread_of(stacks, group.holders.front());
  return std::all_of(group.holders.begin(), group.holders.end(),
                     [&](const Holder& holder) { return field(*thread_of(stacks, holder)) == field(*first); });
}

// Returns the first argument if it is a small number, usually a descriptor: "3" of "read(3, 0x7ffc..., 1)".
std::string_view descriptor_of(std::string_view call) {
  const std::size_t from = call.find('(') + 1;
  const std::size_t to = call.find_first_not_of("0123456789", from);
  if (from == 0 || to == from || to == std::string_view::npos || to - from > 7) return {};
  return call[to] == ',' || call[to] == ')' ? call.substr(from, to - from) : std::string_view();
}

std::string call_text(const Stacks& stacks, const Group& group) {
  const std::string name = base::one_line(group.condition.call, kNameMax);
  const std::string_view descriptor = descriptor_of(call_of(*thread_of(stacks, group.holders.front())));
  const bool alike = all_alike(stacks, group, [](const auto& thread) { return descriptor_of(call_of(thread)); });
  return descriptor.empty() || !alike ? name : name + "(" + std::string(descriptor) + ", ...)";
}

// Lists the objects and their holders: "mutex 0x1000 held by thread 12 (a); mutex 0x2000 held by thread 13 (b)".
std::string waits_text(const Group& group) {
  std::string text;
  for (std::size_t i = 0; i < group.waits.size() && i < kWaitsMax; ++i) {
    text += (i == 0 ? "" : "; ") + base::one_line(group.waits[i], kWaitMax);
  }
  const std::size_t more = group.waits.size() - std::min(group.waits.size(), kWaitsMax);
  return more == 0 ? text : text + "; and " + std::to_string(more) + " more";
}

// A futex is only the means of waiting for a lock. Other calls show the descriptor as well.
bool is_means(const std::string& call) { return call.empty() || call == "futex" || call.starts_with("futex_"); }

// Returns the innermost function of the test: a loop is in it, or in one that it calls.
std::string place_of_running(const Stacks& stacks, const Group& group) {
  const wire::StackFrame* frame = innermost_user_frame(stacks.table, *thread_of(stacks, group.holders.front()));
  return frame == nullptr ? "" : " in " + frame_name(*frame, kNameMax);
}

std::string motion_text(const Stacks& stacks, const Group& group) {
  const Condition& condition = group.condition;
  const bool is_deaf = condition.state == 'D';
  if (condition.motion == wire::Motion::Spinning) return "spinning";
  if (condition.motion == wire::Motion::Moving) return "moving";
  if (condition.motion == wire::Motion::Running) return "running" + place_of_running(stacks, group);
  const bool is_waiting = condition.motion == wire::Motion::Waiting && (condition.state == 'S' || is_deaf);
  std::string text = is_waiting ? "waiting" : name_of_state(condition.state);
  if (!condition.call.empty() && condition.state != 'T') text += " in " + call_text(stacks, group);
  if (is_waiting && is_deaf) text += ", " + name_of_state('D');
  return text;
}

std::string activity_text(const Stacks& stacks, const Group& group) {
  const Condition& condition = group.condition;
  if (group.holders.front().thread < 0) return "";
  if (!condition.threw.empty()) return "threw " + base::one_line(condition.threw, kNameMax);
  std::string text = condition.crashed ? "crashed" : "";
  const auto also = [&](const std::string& more) { text += (text.empty() ? "" : ", ") + more; };
  const bool is_still = !is_on_the_move(condition.motion);
  const bool shows_call = is_still && (group.waits.empty() || !is_means(condition.call));
  if (!condition.crashed && (shows_call || !is_still)) also(motion_text(stacks, group));
  if (group.waits.empty()) return text;
  if (!condition.crashed && shows_call) return text + " for " + waits_text(group);
  also("waiting for " + waits_text(group));
  return text;
}

// Returns whether all hold their interpreter's lock, and the wait, if there is one, does not say so.
bool holds_gil(const Stacks& stacks, const Group& group) {
  if (group.holders.front().thread < 0 || !group.waits.empty()) return false;
  return std::all_of(group.holders.begin(), group.holders.end(), [&](const Holder& holder) {
    return thread_of(stacks, holder)->wait.note.ends_with(wire::kHoldsGil);
  });
}

bool is_odd(const Group& group) {
  const Condition& condition = group.condition;
  const bool has_ended = condition.crashed || !condition.threw.empty();
  return has_ended || condition.motion == wire::Motion::Spinning || !group.waits.empty() || condition.state == 'D' ||
         condition.state == 'T' || condition.state == 't' || condition.state == 'Z';
}

}  // namespace

std::string who(const Stacks& stacks, const std::vector<Holder>& holders) {
  std::vector<int> ranks;
  std::vector<const Process*> others;
  for (const Holder& holder : holders) {
    const Process& process = stacks.processes[holder.process];
    if (process.rank < 0) {
      if (others.empty() || others.back() != &process) others.push_back(&process);
    } else if (ranks.empty() || ranks.back() != process.rank) {
      ranks.push_back(process.rank);
    }
  }
  std::string text = ranks.empty() ? "" : stacks.hosts.label(ranks);
  if (others.empty()) return text;
  if (!text.empty()) text += " and ";
  if (others.size() == 1) return text + name_of_process(stacks, *others.front());
  const bool started = std::all_of(others.begin(), others.end(), [](const auto* each) { return each->of_rank >= 0; });
  if (started) return text + std::to_string(others.size()) + " children of " + stacks.hosts.label(starters_of(others));
  return text + std::to_string(others.size()) + (ranks.empty() ? " processes" : " other processes");
}

Line group_title(const Stacks& stacks, const Group& group) {
  Line line;
  line.add(Tone::Plain, who(stacks, group.holders) + " (" + threads_text(stacks, group));
  const std::string activity = activity_text(stacks, group);
  if (!activity.empty()) {
    line.add(Tone::Plain, ", ");
    line.add(is_odd(group) ? Tone::Warn : Tone::Plain, activity);
  }
  if (holds_gil(stacks, group)) line.add(Tone::Plain, std::string(", ") + wire::kHoldsGil);
  line.add(Tone::Plain, ")");
  return line;
}

std::vector<Line> condition_lines(const Stacks& stacks, const Group& group) {
  std::vector<Line> lines;
  if (group.frames.empty()) {
    const Holder& first = group.holders.front();
    const wire::ThreadStack* thread = thread_of(stacks, first);
    const std::string why = why_no_stack(stacks.processes[first.process], thread != nullptr ? thread->why_none : "");
    lines.push_back(Line().add(Tone::Warn, "no stack: " + base::one_line(why, kReasonMax)));
  }
  std::vector<std::string> kernel = base::split_lines(group.condition.kernel_stack);
  std::erase(kernel, "");
  for (std::size_t i = 0; i < kernel.size() && i < kKernelLinesMax; ++i) {
    lines.push_back(Line().add(Tone::Dim, "kernel: ").add(Tone::Plain, base::one_line(kernel[i], kNameMax)));
  }
  if (kernel.size() > kKernelLinesMax) lines.push_back(Line().add(Tone::Dim, "kernel: ..."));
  return lines;
}

}  // namespace distrun::evidence
