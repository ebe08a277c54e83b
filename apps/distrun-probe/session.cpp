#include "session.hpp"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <set>
#include <utility>

#include <distrun/common/base/deadline.hpp>
#include <distrun/common/base/error.hpp>
#include <distrun/runner/evidence/proc/task_state.hpp>

#include "descendants.hpp"
#include "mutex_wait.hpp"
#include "names.hpp"
#include "refusal.hpp"
#include "stack_cap.hpp"

namespace distrun::probe {
namespace {

// Limit of all stack copies. Most stacks use some KiB, so it matters only for deep recursions.
constexpr std::size_t kCopiesMax = std::size_t{512} << 20;
constexpr std::size_t kCopyMax = std::size_t{1} << 20;
constexpr base::Milliseconds kDescendantsTime{50};
constexpr int kWaitsShare = 3;                  // fourths of the limit for stops
constexpr base::Milliseconds kLateStop{20};     // between two checks for a thread that lacks a CPU
constexpr base::Milliseconds kNamesSoon{100};   // the warm-up of a usual process takes less
constexpr base::Milliseconds kNamesEvery{250};  // between two views of a process whose names take long
constexpr base::Milliseconds kPythonTime{50};   // of a stop, for Python's frames
constexpr std::uint64_t kLargeFile = std::uint64_t{128} << 20;
constexpr std::size_t kLockFrames = 6;  // from the wait for a mutex to the call of its lock, and some more

base::Milliseconds bounded_ms(std::int32_t value, std::int32_t most) {
  return base::Milliseconds(std::clamp(value, 1, most));
}

std::string why_no_threads(pid_t pid, const std::vector<wire::ThreadStack>& threads) {
  if (pid <= 0 || threads.empty()) return "there is no such process";
  if (pid == ::getpid()) return "it is the probe";
  if (threads.size() == 1 && threads.front().task.state == 'Z') return "it is a zombie";
  return "";
}

// A thread that has the same CPU time in another look was in the wait that has just been seen all the while between
// the two: its time is read after the wait, and before any stop, which would cost CPU.
void read_cpu_again(wire::ProcessStacks& process) {
  const evidence::Tasks tasks(process.pid);
  for (wire::ThreadStack& thread : process.threads) thread.task.cpu_ns = evidence::read_cpu_ns(tasks, thread.task.tid);
}

void add_new_threads(wire::ProcessStacks& process) {
  std::vector<wire::ThreadStack>& threads = process.threads;
  const evidence::Tasks tasks(process.pid);
  for (const pid_t tid : tasks.ids()) {
    const auto is_known = [tid](const wire::ThreadStack& thread) { return thread.task.tid == tid; };
    if (std::any_of(threads.begin(), threads.end(), is_known)) continue;
    threads.emplace_back().task = evidence::read_task(tasks, tid);
  }
}

bool has_capture(const std::map<pid_t, Capture>& captures, const wire::ProcessStacks& process) {
  return std::any_of(process.threads.begin(), process.threads.end(),
                     [&](const wire::ThreadStack& thread) { return captures.contains(thread.task.tid); });
}

// Tells why a thread has not stopped, as far as the kernel shows it.
std::string why_not_stopped(pid_t pid, pid_t tid, base::Milliseconds limit, base::Milliseconds limit_together) {
  const bool wants_cpu = evidence::read_pulse(pid, tid).state == 'R';
  const std::string within = std::to_string((wants_cpu ? limit : std::min(limit, limit_together)).count()) + " ms";
  return "no ptrace stop within " + within + (wants_cpu ? ": it got no CPU, or runs in the kernel" : "");
}

}  // namespace

std::vector<std::string> functions_of(const FrameTable& table, const wire::ThreadStack& thread, bool with_runtime) {
  std::vector<std::string> functions;
  for (const std::uint32_t index : thread.frames) {
    const wire::StackFrame& frame = table[index];
    if (!with_runtime && is_runtime_library(frame.module)) continue;
    functions.push_back(frame.function);
    if (with_runtime && functions.size() == kLockFrames) break;
  }
  return functions;
}

Session::Session(Line& line, wire::ProbeOrder order, NamesCache cache)
    : line_(line),
      order_(std::move(order)),
      stop_limit_(bounded_ms(order_.stop_ms, 10'000)),
      table_(std::move(cache)) {}

void Session::run() {
  begin_ = base::system_clock().now();
  find_all();
  look_at_all();
  observe_waits();
  stop_and_describe(false);
  if (processes_.size() > order_.pids.size()) stop_and_describe(true);
  auto index = static_cast<std::int32_t>(order_.pids.size());
  for (const wire::RawStacks& raw : order_.raw) name_raw(raw, index++);
  table_.keep_names();
  if (order_.samples > 1) take_samples();
}

// ---- the kernel's view

void Session::find_all() {
  const auto add = [this](pid_t pid, std::size_t index, std::int32_t descendant_of) {
    wire::ProcessStacks& process = processes_.emplace_back().told;
    process.pid = pid;
    process.index = static_cast<std::int32_t>(index);
    process.descendant_of = descendant_of;
  };
  std::size_t index = 0;
  for (const pid_t pid : order_.pids) add(pid, index++, -1);
  const auto limit = static_cast<std::size_t>(std::clamp(order_.descendants, 0, 1'024));
  const Descendants found =
      descendants_of(order_.pids, limit, base::system_clock().now() + kDescendantsTime, order_.adopted);
  index += order_.raw.size();
  for (const Descendant& each : found.list) add(each.pid, index++, each.of);
  descendants_left_ = found.left_out;
}

// The connections are read meanwhile.
void Session::look_at_all() {
  std::vector<pid_t> pids;
  for (const Process& process : processes_) {
    if (process.told.pid > 0 && process.told.pid != ::getpid()) pids.push_back(process.told.pid);
  }
  if (!pids.empty()) observer_.begin(pids, stop_limit_ * kWaitsShare / 4);
  for (Process& process : processes_) look_at(process);
}

void Session::look_at(Process& process) {
  const pid_t pid = process.told.pid;
  process.told.command = process.is_descendant() ? command_line_of(pid) : evidence::command_of(pid);
  if (pid > 0) add_new_threads(process.told);
  process.told.why_none = why_no_threads(pid, process.told.threads);
  warm_up_.begin(process.told);
  line_.send(wire::ProbeFrame::Process, process.told);
}

// The first views are under way already: this takes longer.
void Session::observe_waits() {
  observer_.look();
  for (Process& process : processes_) {
    observer_.fill(process.told);
    read_cpu_again(process.told);
    line_.send(wire::ProbeFrame::Process, process.told);
  }
}

void Session::tell(Process& process) {
  told_ = base::system_clock().now();
  const wire::StackTable table = table_.take_new();
  if (!table.frames.empty()) line_.send(wire::ProbeFrame::Table, table);
  line_.send(wire::ProbeFrame::Process, process.told);
}

// ---- a short stop

// Descendants are stopped later than the ordered processes, which they must not delay.
void Session::stop_and_describe(bool descendants) {
  for (const pid_t pid : living(descendants)) python_.find(pid);
  stop_all(descendants);
  names_are_slow_ = names_take_long(descendants);
  for (Process& process : processes_) {
    if (names_are_slow_ && process.is_descendant() == descendants) tell_addresses(process);
  }
  if (WarmUp::Code code = warm_up_.finish(); code.space) {
    std::unique_ptr<CodeSpace>& space = spaces_[code.signature];
    (space ? warm_space_ : space) = std::move(code.space);
  }
  for (Process& process : processes_) {
    if (process.is_descendant() == descendants) describe(process);
  }
  stopper_.release();
}

std::vector<pid_t> Session::living(bool descendants) const {
  std::vector<pid_t> pids;
  for (const Process& process : processes_) {
    if (process.told.why_none.empty() && process.is_descendant() == descendants) pids.push_back(process.told.pid);
  }
  return pids;
}

// More time for descendants would delay the samples of the ordered processes.
base::Milliseconds Session::stop_limit(bool descendants) const {
  return descendants ? std::min(stop_limit_, kDescendantsTime) : stop_limit_;
}

void Session::stop_all(bool descendants) {
  if (order_.gentle) {
    stopper_.leave_processes(living(descendants));
    return capture_stopped();
  }
  const auto now = [] { return base::system_clock().now(); };
  const base::TimePoint end = base::deadline_after(stop_limit(descendants), now());
  const base::TimePoint together = std::min<base::TimePoint>(end, now() + kStopTogether);
  stopper_.stop_processes(living(descendants), together);
  capture_stopped();
  stopper_.release();
  while (stopper_.is_waiting() && now() < (stopper_.awaits_cpu() ? end : together)) {
    stopper_.wait_until(now() + kLateStop);
    capture_stopped();
    stopper_.release();
  }
}

void Session::capture_stopped() {
  const std::size_t copy_max = std::min(kCopyMax, kCopiesMax / std::max<std::size_t>(1, stopper_.tracees().size()));
  std::map<pid_t, std::set<pid_t>> captured;
  for (const auto& [tid, tracee] : stopper_.tracees()) {
    const bool left = tracee.state == Tracee::State::Left && !captures_.contains(tid);
    if (tracee.state != Tracee::State::Stopped && !left) continue;
    Mappings& mappings = mappings_[tracee.pid];
    if (mappings.empty()) mappings = Mappings::of(tid);
    auto capture = left ? capture_sleeping(tracee.pid, tid, tracee.call, mappings, copy_max)
                        : capture_thread(tid, mappings, copy_max);
    if (!capture) continue;
    captures_.insert_or_assign(tid, std::move(*capture));
    captured[tracee.pid].insert(tid);
  }
  python_.read(captured, std::chrono::steady_clock::now() + kPythonTime);
}

// ---- addresses first

// The first look-up of a name in a file reads its index, which for gigabytes takes seconds.
bool Session::names_take_long(bool descendants) {
  const std::vector<pid_t> pids = living(descendants);
  const bool is_large = std::any_of(pids.begin(), pids.end(), [this](pid_t pid) {
    const auto mappings = mappings_.find(pid);
    return mappings != mappings_.end() && mappings->second.largest_code_file() > kLargeFile;
  });
  return is_large || !warm_up_.is_done_within(kNamesSoon);
}

void Session::tell_addresses(Process& process) {
  if (!process.told.why_none.empty()) return;
  add_new_threads(process.told);
  try {
    find_code(process);
    for (wire::ThreadStack& thread : process.told.threads) {
      const auto capture = captures_.find(thread.task.tid);
      if (capture == captures_.end() || process.code == nullptr) continue;
      const UnwoundStack stack = process.code->unwind(thread.task.tid, capture->second, *process.mappings);
      python_.set_frames(table_, process.told.pid, stack, thread, [&](const Frame& frame) {
        return std::vector<std::uint32_t>{table_.add_address(*process.code, frame)};
      });
    }
  } catch (const Error&) {
    return;  // describe() meets it again, and tells it
  }
  tell(process);
}

// ---- after it

void Session::describe(Process& process) {
  if (!process.told.why_none.empty()) return;
  add_new_threads(process.told);
  try {
    find_code(process);
    for (wire::ThreadStack& thread : process.told.threads) {
      describe(process, thread);
      if (!names_are_slow_ || base::system_clock().now() < told_ + kNamesEvery) continue;
      tell(process);
      table_.keep_names();  // the time for all names may run out
    }
    observer_.complete(table_, process.told);
    python_.add_tasks(table_, process.told);
  } catch (const Error& error) {
    process.told.why_none = error.what();
  }
  tell(process);
}

void Session::find_code(Process& process) {
  const auto captured = std::find_if(process.told.threads.begin(), process.told.threads.end(),
                                     [&](const auto& thread) { return captures_.contains(thread.task.tid); });
  if (captured == process.told.threads.end()) return;
  process.mappings = &mappings_[process.told.pid];
  std::unique_ptr<CodeSpace>& space = spaces_[process.mappings->code_signature()];
  // Uses the thread id: /proc has no data of a process with an ended main thread.
  if (!space) space = std::make_unique<CodeSpace>(captured->task.tid);
  process.code = space.get();
}

void Session::describe(Process& process, wire::ThreadStack& thread) {
  const auto capture = captures_.find(thread.task.tid);
  if (capture == captures_.end() || process.code == nullptr) {
    set_why_none(process, thread);
    return;
  }
  fill_with_names(process, thread, capture->second);
  const FutexWait wait{capture->second.futex, capture->second.at_futex, functions_of(table_, thread, true)};
  if (!observer_.has_other_ids(process.told.pid)) {
    thread.waits_for = describe_mutex_wait(wait, thread.task.tid, process.told.threads);
  }
  observer_.complete(process.told, capture->second, table_, thread);
  python_.complete(process.told, capture->second.futex, thread);
}

void Session::set_why_none(Process& process, wire::ThreadStack& thread) {
  if (!process.told.why_none.empty()) return;  // tracing was refused, and its other threads were not asked
  const auto found = stopper_.tracees().find(thread.task.tid);
  if (found == stopper_.tracees().end()) {
    thread.why_none = thread.task.state == '?' ? "it has ended" : "it was created while the others were stopped";
    return;
  }
  switch (found->second.state) {
    case Tracee::State::Refused: {
      const std::string why = describe_refusal(thread.task.tid, found->second.error);
      (has_capture(captures_, process.told) ? thread.why_none : process.told.why_none) = why;
      break;
    }
    case Tracee::State::Gone: thread.why_none = "it has ended"; break;
    case Tracee::State::Asked:
    case Tracee::State::Stopped: {
      thread.why_none =
          why_not_stopped(process.told.pid, thread.task.tid, stop_limit(process.is_descendant()), kStopTogether);
      break;
    }
    case Tracee::State::Released: thread.why_none = "its registers cannot be read"; break;
    case Tracee::State::Awake: thread.why_none = "not stopped, since it was running"; break;
    case Tracee::State::Left: thread.why_none = "not stopped, since that would have interrupted its system call"; break;
  }
}

void Session::fill_with_names(Process& process, wire::ThreadStack& thread, const Capture& capture) {
  const UnwoundStack stack = process.code->unwind(thread.task.tid, capture, *process.mappings);
  python_.set_frames(table_, process.told.pid, stack, thread,
                     [&](const Frame& frame) { return table_.add(*process.code, frame); });
}

// ---- raw stacks from a rank

void Session::name_raw(const wire::RawStacks& raw, std::int32_t index) {
  Process process;
  process.told.index = index;
  process.told.pid = raw.pid;
  process.told.command = evidence::command_of(raw.pid);
  for (const wire::RawThread& thread : raw.threads) {
    wire::ThreadStack& stack = process.told.threads.emplace_back();
    stack.task.tid = thread.tid;
    stack.task.name = thread.name;
    stack.crashed = thread.crashed;
    stack.why_none = thread.why_none;
    stack.incomplete = thread.incomplete;
    std::vector<std::uint32_t> inner;
    std::vector<std::uint32_t> outer;
    bool gap = false;
    for (std::size_t i = 0; i < thread.pcs.size(); ++i) {
      const bool stands_for_others = thread.pcs[i] == 0 && i > 0;
      gap = gap || stands_for_others;
      if (stands_for_others) continue;
      const std::vector<std::uint32_t> added = table_.add(raw.modules, thread.pcs[i]);
      std::vector<std::uint32_t>& side = gap ? outer : inner;
      side.insert(side.end(), added.begin(), added.end());
    }
    set_frames(stack, std::move(inner), outer, gap);
  }
  tell(process);
}

}  // namespace distrun::probe
