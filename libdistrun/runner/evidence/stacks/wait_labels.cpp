#include <distrun/runner/evidence/stacks/wait_labels.hpp>

#include <algorithm>
#include <cstdlib>
#include <string_view>
#include <vector>

#include <distrun/common/wire/wait_kinds.hpp>

namespace distrun::evidence {
namespace {

using wire::WaitObject;

constexpr std::size_t kHoldersMax = 3;  // named individually
constexpr std::size_t kApartMax = 8;    // a longer cycle would fill the report with equal stacks
constexpr std::string_view kHeldBy = " held by ";
constexpr std::string_view kThread = "thread ";

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_hex_digit(char c) { return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'); }

bool is_end(WaitObject object) {
  return object == WaitObject::ThreadEnd || object == WaitObject::Child || object == WaitObject::Process;
}

bool is_channel(WaitObject object) { return object == WaitObject::Pipe || object == WaitObject::Socket; }

// The system call and the functions say as much of the others.
bool is_told(WaitObject object) {
  return wire::is_lock(object) || is_end(object) || is_channel(object) || object == WaitObject::Semaphore ||
         object == WaitObject::Barrier || object == WaitObject::Latch || object == WaitObject::Future;
}

// "Any thread of its own process" names no holder.
bool is_known(const Process& process, const wire::WaitEnder& ender) {
  return ender.tid != 0 || ender.pid != process.pid;
}

bool has_holder(const Process& process, const wire::ObservedWait& wait) {
  return std::any_of(wait.enders.begin(), wait.enders.end(),
                     [&](const wire::WaitEnder& ender) { return is_known(process, ender); });
}

bool is_private(const Process& process, const wire::ThreadStack& thread) {
  return std::all_of(thread.wait.enders.begin(), thread.wait.enders.end(),
                     [&](const wire::WaitEnder& ender) { return ender.pid == process.pid; });
}

// Reads the holder from "mutex 0x55... held by thread 4711 (worker)". 0: it names no thread.
std::int32_t holder_in(const std::string& waits_for, std::int32_t waiter) {
  const std::size_t at = waits_for.find(kHeldBy);
  if (at == std::string::npos) return 0;
  const std::string_view holder = std::string_view(waits_for).substr(at + kHeldBy.size());
  if (holder.starts_with("this thread itself")) return waiter;
  return holder.starts_with(kThread) ? std::atoi(waits_for.c_str() + at + kHeldBy.size() + kThread.size()) : 0;
}

// Returns the only thread that can end the wait; a process stands for its main thread. 0: none is known, or several.
std::int32_t only_ender(const Process& process, const wire::ThreadStack& thread) {
  const std::vector<wire::WaitEnder>& enders = thread.wait.enders;
  if (enders.size() == 1 && is_known(process, enders.front())) {
    return enders.front().tid != 0 ? enders.front().tid : enders.front().pid;
  }
  return holder_in(thread.waits_for, thread.task.tid);
}

std::int64_t id_on(int host, std::int32_t id) { return (static_cast<std::int64_t>(host) << 32) | id; }

std::string with_note(std::string text, const std::string& note) { return note.empty() ? text : text + ", " + note; }

}  // namespace

std::string without_numbers(std::string_view text) {
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    if (!is_digit(text[at])) {
      out += text[at++];
      continue;
    }
    const bool is_hex = text[at] == '0' && at + 1 < text.size() && text[at + 1] == 'x';
    if (is_hex) at += 2;
    while (at < text.size() && (is_hex ? is_hex_digit(text[at]) : is_digit(text[at]))) ++at;
    out += '#';
  }
  return out;
}

bool waits_for_lock(const wire::ThreadStack& thread) noexcept {
  return !thread.waits_for.empty() || wire::is_lock(thread.wait.object);
}

WaitLabels::WaitLabels(const Stacks& stacks) : stacks_(stacks) {
  for (const Process& process : stacks.processes) {
    processes_.try_emplace(id_on(process.host, process.pid), &process);
    for (const wire::ThreadStack& thread : process.threads) add_edge(process, thread);
  }
  std::vector<Id> waiters;
  for (const auto& [thread, edge] : edges_) waiters.push_back(thread);
  std::sort(waiters.begin(), waiters.end());
  std::uint32_t walk = 0;
  for (const Id thread : waiters) mark_cycle(thread, ++walk);
}

void WaitLabels::add_edge(const Process& process, const wire::ThreadStack& thread) {
  const std::int32_t to = only_ender(process, thread);
  if (to <= 0 || thread.task.tid <= 0) return;
  edges_.try_emplace(id_on(process.host, thread.task.tid), Edge{id_on(process.host, to)});
}

// Each thread has one edge at most: from any start the walk ends, reaches an earlier walk, or itself.
void WaitLabels::mark_cycle(Id start, std::uint32_t walk) {
  auto at = edges_.find(start);
  for (; at != edges_.end() && at->second.walk == 0; at = edges_.find(at->second.to)) at->second.walk = walk;
  if (at == edges_.end() || at->second.walk != walk || at->second.cycle != 0) return;
  std::vector<Id> members;
  for (Id thread = at->first; members.empty() || thread != members.front(); thread = edges_.at(thread).to) {
    members.push_back(thread);
  }
  const Id shared = *std::min_element(members.begin(), members.end());
  for (const Id thread : members) edges_.at(thread).cycle = members.size() <= kApartMax ? thread : shared;
}

std::int64_t WaitLabels::cycle_of(const wire::ThreadStack& thread, int host) const {
  const auto found = edges_.find(id_on(host, thread.task.tid));
  return found == edges_.end() ? 0 : found->second.cycle;
}

// What ends a wait is on the same machine.
const Process* WaitLabels::find_process(const Process& waiter, const wire::WaitEnder& ender) const {
  const auto found = processes_.find(id_on(waiter.host, ender.pid));
  return found == processes_.end() ? nullptr : found->second;
}

std::string WaitLabels::holder_name(const Process& process, const wire::WaitEnder& ender) const {
  const Process* const found = find_process(process, ender);
  const bool is_rank = found != nullptr && found->rank >= 0 && !found->has_thread_ranks;
  const std::string thread = std::string(kThread) + std::to_string(ender.tid);
  if (ender.pid != process.pid && is_rank) {
    return (ender.tid != 0 ? thread + " of " : "") + stacks_.hosts.label(found->rank);
  }
  if (!ender.name.empty()) return ender.name;
  return ender.tid != 0 ? thread : "process " + std::to_string(ender.pid);
}

std::string WaitLabels::holders_of(const Process& process, const wire::ObservedWait& wait) const {
  std::string text;
  std::size_t count = 0;
  for (const wire::WaitEnder& ender : wait.enders) {
    if (!is_known(process, ender) || ++count > kHoldersMax) continue;
    text += (text.empty() ? "" : ", ") + holder_name(process, ender);
  }
  return count > kHoldersMax ? text + " and " + std::to_string(count - kHoldersMax) + " more" : text;
}

// Returns "other end at ranks 0-2" if all processes that have the other end are ranks, else what was seen of it.
std::string WaitLabels::other_end(const Process& process, const wire::ObservedWait& wait) const {
  std::vector<int> ranks;
  if (wait.enders.size() == 1 && wait.enders.front().pid == process.pid) return "other end in the same process";
  for (const wire::WaitEnder& ender : wait.enders) {
    const Process* const found = find_process(process, ender);
    if (found == nullptr || found->rank < 0 || found->has_thread_ranks) return wait.note;
    ranks.push_back(found->rank);
  }
  std::sort(ranks.begin(), ranks.end());
  ranks.erase(std::unique(ranks.begin(), ranks.end()), ranks.end());
  return ranks.empty() ? wait.note : "other end at " + stacks_.hosts.label(ranks);
}

std::string WaitLabels::label_of(const Process& process, const wire::ThreadStack& thread) const {
  const wire::ObservedWait& wait = thread.wait;
  if (!thread.waits_for.empty()) return thread.waits_for;
  const bool is_held = has_holder(process, wait);
  if (!is_told(wait.object) || wait.name.empty() || (!is_held && wait.note.empty())) return "";
  if (is_end(wait.object)) return with_note("the end of " + wait.name, wait.note);
  if (is_channel(wait.object)) return with_note(wait.name, other_end(process, wait));
  return with_note(is_held ? wait.name + std::string(kHeldBy) + holders_of(process, wait) : wait.name, wait.note);
}

std::string WaitLabels::kind_of(const Process& process, const wire::ThreadStack& thread) const {
  const std::string label = label_of(process, thread);
  return is_private(process, thread) ? without_numbers(label) : label;
}

}  // namespace distrun::evidence
