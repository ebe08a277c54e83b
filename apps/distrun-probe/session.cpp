#include "session.hpp"

#include <unistd.h>

#include <algorithm>
#include <thread>
#include <utility>

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
constexpr base::Milliseconds kWaitsTime{150};
constexpr std::size_t kLockFrames = 6;  // from the wait for a mutex to the call of its lock, and some more

base::Milliseconds bounded_ms(std::int32_t value, std::int32_t most) {
  return base::Milliseconds(std::clamp(value, 1, most));
}

std::string why_no_threads(pid_t pid, const std::vector<wire::ThreadStack>& threads) {
  if (pid <= 0 || threads.empty()) return "it has ended";
  if (pid == ::getpid()) return "it is the probe";
  if (threads.size() == 1 && threads.front().task.state == 'Z') return "it is a zombie";
  return "";
}

}  // namespace

Session::Session(Line& line, wire::ProbeOrder order)
    : line_(line), order_(std::move(order)), stop_limit_(bounded_ms(order_.stop_ms, 10'000)) {}

void Session::run() {
  look_at_all();
  look_at_descendants();
  observe_waits();
  stop_and_describe(false);
  if (processes_.size() > order_.pids.size()) stop_and_describe(true);
  auto index = static_cast<std::int32_t>(order_.pids.size());
  for (const wire::RawStacks& raw : order_.raw) name_raw(raw, index++);
  if (order_.samples > 1) take_samples();
}

// ---- the kernel's view

void Session::look_at_all() {
  std::int32_t index = 0;
  for (const pid_t pid : order_.pids) look_at(pid, index++, -1);
}

void Session::look_at(pid_t pid, std::int32_t index, std::int32_t descendant_of) {
  Process& process = processes_.emplace_back();
  process.told.index = index;
  process.told.pid = pid;
  process.told.descendant_of = descendant_of;
  process.told.command = descendant_of < 0 ? evidence::command_of(pid) : command_line_of(pid);
  if (pid > 0) add_new_threads(process);
  process.told.why_none = why_no_threads(pid, process.told.threads);
  line_.send(wire::ProbeFrame::Process, process.told);
}

void Session::look_at_descendants() {
  const auto limit = static_cast<std::size_t>(std::clamp(order_.descendants, 0, 1'024));
  const Descendants found = descendants_of(order_.pids, limit, base::system_clock().now() + kDescendantsTime);
  auto index = static_cast<std::int32_t>(order_.pids.size() + order_.raw.size());
  for (const Descendant& each : found.list) look_at(each.pid, index++, each.of);
  descendants_left_ = found.left_out;
}

// The first views are under way already: this takes longer.
void Session::observe_waits() {
  std::vector<pid_t> pids;
  for (const Process& process : processes_) {
    if (process.told.why_none.empty()) pids.push_back(process.told.pid);
  }
  if (pids.empty()) return;
  observer_.look(pids, kWaitsTime);
  for (Process& process : processes_) {
    observer_.fill(process.told);
    line_.send(wire::ProbeFrame::Process, process.told);
  }
}

void Session::add_new_threads(Process& process) {
  std::vector<wire::ThreadStack>& threads = process.told.threads;
  for (const pid_t tid : evidence::tasks_of(process.told.pid)) {
    const auto is_known = [tid](const wire::ThreadStack& thread) { return thread.task.tid == tid; };
    if (std::any_of(threads.begin(), threads.end(), is_known)) continue;
    threads.emplace_back().task = evidence::read_task(process.told.pid, tid);
  }
}

void Session::tell(Process& process) {
  const wire::StackTable table = table_.take_new();
  if (!table.frames.empty()) line_.send(wire::ProbeFrame::Table, table);
  line_.send(wire::ProbeFrame::Process, process.told);
}

// ---- a short stop

// Descendants are stopped later than the ordered processes, which they must not delay.
void Session::stop_and_describe(bool descendants) {
  stop_all(descendants);
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

base::TimePoint Session::stop_deadline(bool descendants) const {
  return base::system_clock().now() + stop_limit(descendants);
}

void Session::stop_all(bool descendants) {
  if (order_.gentle) {
    stopper_.leave_processes(living(descendants));
    return capture_stopped();
  }
  const base::TimePoint end = stop_deadline(descendants);
  stopper_.stop_processes(living(descendants), end);
  capture_stopped();
  stopper_.release();
  stopper_.wait_until(end);
  capture_stopped();
  stopper_.release();
}

void Session::capture_stopped() {
  const std::size_t copy_max = std::min(kCopyMax, kCopiesMax / std::max<std::size_t>(1, stopper_.tracees().size()));
  for (const auto& [tid, tracee] : stopper_.tracees()) {
    const bool left = tracee.state == Tracee::State::Left && !captures_.contains(tid);
    if (tracee.state != Tracee::State::Stopped && !left) continue;
    Mappings& mappings = mappings_[tracee.pid];
    if (mappings.empty()) mappings = Mappings::of(tid);
    auto capture = left ? capture_sleeping(tracee.pid, tid, tracee.call, mappings, copy_max)
                        : capture_thread(tid, mappings, copy_max);
    if (capture) captures_.insert_or_assign(tid, std::move(*capture));
  }
}

// ---- after it

void Session::describe(Process& process) {
  if (!process.told.why_none.empty()) return;
  add_new_threads(process);
  try {
    find_code(process);
    for (wire::ThreadStack& thread : process.told.threads) describe(process, thread);
    observer_.complete(table_, process.told);
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
  fill(process, thread, capture->second);
  const FutexWait wait{capture->second.futex, capture->second.at_futex, functions_of(thread, true)};
  thread.waits_for = describe_mutex_wait(wait, thread.task.tid, process.told.threads);
  observer_.complete(process.told, capture->second, table_, thread);
}

void Session::set_why_none(Process& process, wire::ThreadStack& thread) {
  if (!process.told.why_none.empty()) return;  // tracing was refused, and its other threads were not asked
  const auto found = stopper_.tracees().find(thread.task.tid);
  if (found == stopper_.tracees().end()) {
    thread.why_none = thread.task.state == '?' ? "it has ended" : "it was created while the others were stopped";
    return;
  }
  switch (found->second.state) {
    case Tracee::State::Refused: process.told.why_none = describe_refusal(process.told.pid, found->second.error); break;
    case Tracee::State::Gone: thread.why_none = "it has ended"; break;
    case Tracee::State::Asked:
    case Tracee::State::Stopped:
      thread.why_none = "no ptrace stop within " + std::to_string(stop_limit(process.is_descendant()).count()) + " ms";
      break;
    case Tracee::State::Released: thread.why_none = "its registers cannot be read"; break;
    case Tracee::State::Awake: thread.why_none = "not stopped, since it was running"; break;
    case Tracee::State::Left: thread.why_none = "not stopped, since that would have interrupted its system call"; break;
  }
}

void Session::fill(Process& process, wire::ThreadStack& thread, const Capture& capture) {
  const UnwoundStack stack = process.code->unwind(thread.task.tid, capture, *process.mappings);
  const auto indices_of = [&](const auto& frames) {
    std::vector<std::uint32_t> indices;
    for (const Frame& frame : frames) {
      const std::vector<std::uint32_t>& added = table_.add(*process.code, frame);
      indices.insert(indices.end(), added.begin(), added.end());
    }
    return indices;
  };
  thread.incomplete = stack.incomplete;
  set_frames(thread, indices_of(stack.inner), indices_of(stack.outer), stack.gap);
}

std::vector<std::string> Session::functions_of(const wire::ThreadStack& thread, bool with_runtime) const {
  std::vector<std::string> functions;
  for (const std::uint32_t index : thread.frames) {
    const wire::StackFrame& frame = table_[index];
    if (!with_runtime && is_runtime_library(frame.module)) continue;
    functions.push_back(frame.function);
    if (with_runtime && functions.size() == kLockFrames) break;
  }
  return functions;
}

// ---- more samples

void Session::take_samples() {
  const base::Milliseconds interval = bounded_ms(order_.interval_ms, 1'000);
  const std::int32_t more = std::min(order_.samples, 16) - 1;
  take_first_pulses();
  for (std::int32_t i = 0; i < more; ++i) take_sample(interval);
  judge_motions();
}

// Excludes the time in which the first stacks were taken, which varies.
void Session::take_first_pulses() {
  for (const Process& process : processes_) {
    for (const wire::ThreadStack& thread : process.told.threads) {
      const evidence::Pulse pulse = evidence::read_pulse(process.told.pid, thread.task.tid);
      if (pulse.state == '?') continue;  // it has ended
      samples_[thread.task.tid].push_back(
          {base::system_clock().now(), pulse.cpu_ns, pulse.state == 'R', functions_of(thread, false)});
    }
  }
}

void Session::take_sample(base::Milliseconds interval) {
  captures_.clear();
  wait_for_late_stops(base::system_clock().now() + interval);
  stopper_.stop_again(take_pulses(), stop_deadline());
  capture_stopped();
  stopper_.release();
  for (Process& process : processes_) add_to_sample(process);
}

// Waits for threads that got no CPU time to stop: they would stop later, and until the next sample.
void Session::wait_for_late_stops(base::TimePoint end) {
  stopper_.wait_until(end);
  capture_stopped();
  stopper_.release();
  std::this_thread::sleep_until(end);
}

// Returns the threads that have used CPU since the last sample.
std::vector<pid_t> Session::take_pulses() {
  std::vector<pid_t> moved;
  for (const Process& process : processes_) {
    for (const wire::ThreadStack& thread : process.told.threads) {
      const auto samples = samples_.find(thread.task.tid);
      if (samples == samples_.end()) continue;
      const evidence::Pulse pulse = evidence::read_pulse(process.told.pid, thread.task.tid);
      const MotionSample sample{base::system_clock().now(), pulse.cpu_ns, pulse.state == 'R'};
      const MotionSample& last = samples->second.back();
      const std::uint64_t used = sample.cpu_ns - std::min(sample.cpu_ns, last.cpu_ns);
      if (has_used_cpu(used, sample.when - last.when, sample.running)) moved.push_back(thread.task.tid);
      samples->second.push_back(sample);
    }
  }
  return moved;
}

void Session::add_to_sample(Process& process) {
  try {
    if (process.code == nullptr) find_code(process);
    for (wire::ThreadStack& thread : process.told.threads) add_to_sample(process, thread);
  } catch (const Error& error) {
    process.told.why_none = error.what();
  }
}

// A thread without a stack gets this one, which is better than a note that the first stop came too late.
void Session::add_to_sample(Process& process, wire::ThreadStack& thread) {
  const auto capture = captures_.find(thread.task.tid);
  const auto samples = samples_.find(thread.task.tid);
  if (capture == captures_.end() || samples == samples_.end() || process.code == nullptr) return;
  wire::ThreadStack now;
  now.task.tid = thread.task.tid;
  fill(process, now, capture->second);
  samples->second.back().functions = functions_of(now, false);
  if (!thread.frames.empty()) return;
  thread.frames = std::move(now.frames);
  thread.gap_after = now.gap_after;
  thread.incomplete = now.incomplete;
  thread.why_none.clear();
}

void Session::judge_motions() {
  for (Process& process : processes_) {
    bool judged = false;
    for (wire::ThreadStack& thread : process.told.threads) {
      const auto samples = samples_.find(thread.task.tid);
      if (samples == samples_.end()) continue;
      thread.motion = judge_motion(samples->second);
      judged = true;
    }
    if (judged) tell(process);
  }
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
