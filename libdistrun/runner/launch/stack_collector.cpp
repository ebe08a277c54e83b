#include <distrun/runner/launch/stack_collector.hpp>

#include <algorithm>
#include <utility>

#include <distrun/common/base/deadline.hpp>
#include <distrun/common/base/error.hpp>
#include <distrun/common/base/sanitizer.hpp>
#include <distrun/runner/evidence/proc/task_state.hpp>

namespace distrun::launch {
namespace {

constexpr std::size_t kTasksRead = 512;  // of all processes together; about 40 us each
constexpr std::chrono::milliseconds kStopMin{200};
constexpr int kStopShare = 5;  // of the bound, for threads that get no CPU
// The listeners answer at once, if at all.
constexpr base::Nanoseconds kAskingMax = std::chrono::seconds(base::kSanitized ? 2 : 1);

wire::ProbeOrder order_for(const std::vector<StackCollector::Target>& targets, const StackOrder& stacks) {
  wire::ProbeOrder order;
  order.samples = stacks.samples;
  order.stop_ms = static_cast<std::int32_t>(
      std::chrono::ceil<std::chrono::milliseconds>(std::max<base::Nanoseconds>(kStopMin, stacks.bound / kStopShare))
          .count());
  order.descendants = stacks.descendants;
  order.gentle = stacks.gentle;
  order.adopted = stacks.adopted;
  for (const auto& target : targets) order.pids.push_back(target.pid);
  return order;
}

bool has_stacks(const evidence::Process& process) {
  return std::any_of(process.threads.begin(), process.threads.end(),
                     [](const wire::ThreadStack& thread) { return !thread.frames.empty(); });
}

// Returns false if no thread has a stack, or if the main one has none because another process traces it: a rank can
// still signal its own thread.
bool has_all_that_probes_can(const evidence::Process& process) {
  return has_stacks(process) && (!process.threads.front().frames.empty() || !evidence::is_traced(process.pid));
}

// Says who traces the process, if the probe was ended before it could.
void name_tracer(evidence::Process& process) {
  const pid_t tracer = process.why_none.empty() ? evidence::tracer_of(process.pid) : 0;
  const std::string command = tracer > 0 ? evidence::command_of(tracer) : "";
  if (command.empty() || command == "distrun-probe") return;
  process.why_none = "process " + std::to_string(tracer) + " (" + command + ") traces it";
}

// Returns whether a thread is left to answer: not if the process is gone or about to be.
bool can_answer(const evidence::Process& process) {
  return std::any_of(process.threads.begin(), process.threads.end(), [](const wire::ThreadStack& thread) {
    return thread.task.state != 'Z' && thread.task.state != 'X';
  });
}

// If neither way led to a stack, reports both reasons.
void keep_refusal(const evidence::Process& process, const wire::ThreadStack& known, wire::ThreadStack& thread) {
  const std::string& refusal = known.why_none.empty() ? process.why_none : known.why_none;
  if (refusal.empty()) return;
  thread.why_none =
      thread.why_none.empty() ? refusal : refusal + "; when the rank was asked by a signal, " + thread.why_none;
}

}  // namespace

void take_threads(evidence::Process& process, std::vector<wire::ThreadStack> threads, std::uint32_t shift) {
  for (wire::ThreadStack& thread : threads) {
    for (std::uint32_t& frame : thread.frames) frame += shift;
    // Keeps the kernel's view of the thread, which the rank does not know.
    const auto known = std::find_if(process.threads.begin(), process.threads.end(),
                                    [&](const auto& each) { return each.task.tid == thread.task.tid; });
    if (known != process.threads.end()) {
      if (!known->frames.empty()) continue;  // from the probe, which has seen the thread as it was
      if (thread.frames.empty()) keep_refusal(process, *known, thread);
      thread.task = std::move(known->task);
      thread.wait = std::move(known->wait);
      *known = std::move(thread);
    } else {
      process.threads.push_back(std::move(thread));
    }
  }
}

StackCollector::StackCollector(io::Loop& loop, Probe::Program program, std::vector<Target> targets,
                               const StackOrder& order, AskRank ask_rank, OnStacks on_stacks)
    : loop_(loop),
      program_(std::move(program)),
      targets_(std::move(targets)),
      deadline_(base::deadline_after(order.bound, loop.clock().now())),
      gentle_(order.gentle),
      ask_rank_(std::move(ask_rank)),
      on_stacks_(std::move(on_stacks)),
      alarm_(loop, [this] { on_asking_bound(); }) {
  // A probe that is stuck must leave the listeners time to answer.
  const base::Nanoseconds for_probe = order.bound * 3 / 5;
  probe_ = std::make_unique<Probe>(loop_, program_, order_for(targets_, order), for_probe,
                                   [this](ProbeResult result) { on_probed(std::move(result)); });
}

base::Nanoseconds StackCollector::left() const {
  return std::max<base::Nanoseconds>(deadline_ - loop_.clock().now(), base::Nanoseconds::zero());
}

evidence::Process& StackCollector::process_of(std::size_t target) {
  const int index = static_cast<int>(target);
  const auto found = std::find_if(stacks_.processes.begin(), stacks_.processes.end(),
                                  [index](const evidence::Process& each) { return each.index == index; });
  if (found != stacks_.processes.end()) return *found;
  evidence::Process process;
  process.index = index;
  process.pid = targets_[target].pid;
  stacks_.processes.push_back(std::move(process));
  return stacks_.processes.back();
}

void StackCollector::read_kernel(evidence::Process& process) const {
  std::vector<pid_t> tasks = evidence::tasks_of(process.pid);
  if (tasks.empty()) return;
  tasks.resize(std::min(tasks.size(), std::max<std::size_t>(1, kTasksRead / targets_.size())));
  for (const pid_t tid : tasks) process.threads.emplace_back().task = evidence::read_task(process.pid, tid);
}

void StackCollector::add_source(std::size_t target, const char* name, bool answered, const std::string& why_not) {
  process_of(target).sources.push_back({name, answered, why_not});
}

void StackCollector::on_probed(ProbeResult result) {
  deadline_ += result.extended;
  stacks_ = std::move(result.stacks);
  for (std::size_t i = 0; i < targets_.size(); ++i) {
    evidence::Process& process = process_of(i);
    process.rank = targets_[i].rank;
    if (process.threads.empty() && !result.error.empty()) read_kernel(process);
    const bool kernel = !process.threads.empty();
    add_source(i, "kernel", kernel, kernel ? "" : result.error.empty() ? process.why_none : result.error);
    const bool probed = has_stacks(process_of(i));
    if (!probed) name_tracer(process_of(i));
    const std::string& why = process_of(i).why_none.empty() ? result.error : process_of(i).why_none;
    add_source(i, "probe", probed, probed ? result.error : why.empty() ? "no thread could be stopped" : why);
  }
  take_descendants(result);
  gentle_ ? finish() : ask_those_that_refused();
}

// The probe is not trusted: only a known target can have started a process.
void StackCollector::take_descendants(const ProbeResult& result) {
  for (evidence::Process& process : stacks_.processes) {
    const auto known = result.descendant_of.find(process.index);
    if (process.index < static_cast<int>(targets_.size()) || known == result.descendant_of.end()) continue;
    const auto target = static_cast<std::size_t>(known->second);
    if (target < targets_.size()) process.of_rank = targets_[target].rank;
    const bool probed = has_stacks(process);
    process.sources.push_back({"kernel", !process.threads.empty(), process.why_none});
    const bool has_reason = !probed && !process.why_none.empty();
    process.sources.push_back({"probe", probed, has_reason ? process.why_none : result.error});
  }
}

void StackCollector::ask_those_that_refused() {
  for (std::size_t i = 0; i < targets_.size(); ++i) {
    const evidence::Process& process = process_of(i);
    if (has_all_that_probes_can(process) || (!process.threads.empty() && !can_answer(process))) continue;
    if (targets_[i].rank < 0) continue;
    if (ask_rank_(targets_[i].rank)) {
      asked_.emplace(targets_[i].rank, Asked{i, evidence::cpu_wait_of(targets_[i].pid)});
    } else {
      add_source(i, "listener", false, "it cannot be reached");
    }
  }
  if (asked_.empty()) return finish();
  asking_ = std::min(left() / 2, kAskingMax);
  alarm_.set_after(asking_);
}

// The answers are written by threads of the ranks, which may wait for a CPU on a busy machine.
void StackCollector::on_asking_bound() {
  base::Nanoseconds waited{};
  for (const auto& [rank, asked] : asked_) {
    waited = std::max(waited, evidence::cpu_wait_of(targets_[asked.target].pid) - asked.cpu_wait);
  }
  const base::Nanoseconds more = extension_of(asking_, waited, extended_);
  if (more.count() == 0) return name_answers();
  extended_ += more;
  deadline_ += more;
  alarm_.set_after(more);
}

void StackCollector::on_raw(int rank, wire::RawStacks raw) {
  const auto found = asked_.find(rank);
  if (found == asked_.end()) return;
  answered_.push_back(found->second.target);
  raw_.push_back(std::move(raw));
  asked_.erase(found);
  if (asked_.empty()) name_answers();
}

void StackCollector::name_answers() {
  alarm_.cancel();
  for (const auto& [rank, asked] : asked_) add_source(asked.target, "listener", false, "it did not answer in time");
  asked_.clear();
  if (raw_.empty()) return finish();
  wire::ProbeOrder order;
  order.raw = raw_;
  probe_ = std::make_unique<Probe>(loop_, program_, order, left(),
                                   [this](ProbeResult result) { on_named(std::move(result)); });
}

void StackCollector::on_named(ProbeResult result) {
  const auto shift = static_cast<std::uint32_t>(stacks_.table.size());
  stacks_.table.insert(stacks_.table.end(), result.stacks.table.begin(), result.stacks.table.end());
  for (std::size_t i = 0; i < answered_.size(); ++i) {
    std::string why = result.error;
    for (evidence::Process& named : result.stacks.processes) {
      if (named.index != static_cast<int>(i)) continue;
      take_threads(process_of(answered_[i]), std::move(named.threads), shift);
      why = named.why_none;
    }
    add_source(answered_[i], "listener", has_stacks(process_of(answered_[i])), why);
  }
  finish();
}

void StackCollector::finish() {
  loop_.post(
      [on_stacks = std::move(on_stacks_), stacks = std::move(stacks_)]() mutable { on_stacks(std::move(stacks)); });
}

}  // namespace distrun::launch
