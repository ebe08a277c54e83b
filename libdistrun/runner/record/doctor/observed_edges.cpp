#include <distrun/runner/record/doctor/observed_edges.hpp>

#include <algorithm>
#include <cstdlib>
#include <string_view>

#include <distrun/runner/evidence/stacks/condition.hpp>

namespace distrun::runner::doctor {
namespace {

using wire::Motion;
using wire::WaitObject;

bool is_sleep(std::string_view call) {
  return call == "clock_nanosleep" || call == "nanosleep" || call == "pause" || call == "sleep";
}

bool is_known(const wire::ObservedWait& wait) {
  return wait.object != WaitObject::None && wait.object != WaitObject::Unknown;
}

// Addresses and numbers mean an object of one machine.
std::string key_of(int host, ThingKind kind, const std::string& key) {
  if (key.empty()) return "";
  const std::string on_machine = std::to_string(static_cast<int>(kind)) + key;
  return host == 0 ? on_machine : "host " + std::to_string(host) + ' ' + on_machine;
}

}  // namespace

wire::ObservedWait observed(const wire::ThreadStack& stack, int pid) {
  constexpr std::string_view kHeldBy = " held by thread ";
  if (is_known(stack.wait)) return stack.wait;
  wire::ObservedWait wait = stack.wait;
  const std::string_view text = stack.waits_for;
  if (text.empty()) return wait;
  wait.object = WaitObject::Mutex;
  wait.name = text.substr(0, text.find(" held by "));
  wait.key = std::to_string(pid) + ' ' + wait.name;
  if (text.find("held by this thread itself") != std::string_view::npos) {
    wait.enders.push_back({pid, stack.task.tid, ""});
  } else if (const std::size_t at = text.find(kHeldBy); at != std::string_view::npos) {
    wait.enders.push_back({pid, std::atoi(stack.waits_for.c_str() + at + kHeldBy.size()), ""});
  }
  return wait;
}

Doing doing_of(const wire::ThreadStack& stack) {
  switch (static_cast<char>(stack.task.state)) {
    case 'T': return Doing::Stopped;
    case 't': return Doing::Traced;
    case 'D':
      return stack.wait.object == WaitObject::Child ? Doing::Waits : Doing::InKernel;  // vfork cannot be stopped
    case 'Z':
    case 'X': return Doing::Ended;
    default: break;
  }
  if (stack.motion == Motion::Spinning) return Doing::Spins;
  if (stack.wait.object == WaitObject::Timer) return Doing::Sleeps;
  if (is_known(stack.wait) || !stack.waits_for.empty()) return Doing::Waits;
  if (evidence::is_on_the_move(stack.motion) || stack.task.state == 'R') return Doing::Runs;
  const std::string_view call = evidence::name_of_call(stack.task.syscall);
  if (is_sleep(call)) return call == "pause" ? Doing::Waits : Doing::Sleeps;
  if (!call.empty() || !stack.task.wchan.empty()) return Doing::Waits;
  return Doing::Unknown;
}

std::optional<Wait> ObservedEdges::wait_of(std::size_t thread) {
  const wire::ThreadStack* const stack = roster_.seen(thread).stack;
  if (stack == nullptr || doing_of(*stack) != Doing::Waits) return std::nullopt;
  const wire::ObservedWait seen = observed(*stack, graph_.threads[thread].pid);
  return is_known(seen) ? wait_for(thread, seen) : unknown_wait(thread);
}

Wait ObservedEdges::unknown_wait(std::size_t thread) const {
  const wire::ThreadStack& stack = *roster_.seen(thread).stack;
  Wait wait;
  wait.call = stack.wait.call.empty() ? stack.task.syscall : stack.wait.call;
  if (wait.call.empty()) wait.call = stack.task.wchan;
  wait.call = evidence::name_of_call(wait.call);
  wait.thing = things_.add(ThingKind::Other, wait.call, "");
  wait.note = stack.wait.note;
  wait.why_open = "what can end it is not known";
  return wait;
}

// Adds the threads that the ender, which is on that machine, stands for. Returns false if it has some that are not in
// the graph.
bool ObservedEdges::add_ender(Indices& enders, int host, const wire::WaitEnder& ender) const {
  if (ender.tid != 0) {
    const std::size_t* const known = roster_.find({host, ender.pid, ender.tid});
    if (known != nullptr) enders.push_back(*known);
    return known != nullptr;
  }
  const Indices threads = roster_.threads_in(host, ender.pid);
  enders.insert(enders.end(), threads.begin(), threads.end());
  return !threads.empty();
}

// Where ranks share a process, an ender without a thread may be any of them.
bool ObservedEdges::is_of_one_rank(const Indices& threads, std::size_t first) const {
  for (std::size_t i = first; i < threads.size(); ++i) {
    if (graph_.threads[threads[i]].of_rank != graph_.threads[threads[first]].of_rank) return false;
  }
  return true;
}

// Any thread of the own process may end the wait, but hardly the one that waits: build_graph.cpp finds the likely ones.
bool ObservedEdges::is_expected(std::size_t thread, const wire::WaitEnder& ender, const Indices& threads,
                                std::size_t first) const {
  if (threads.size() == first) return false;
  return ender.tid != 0 || (ender.pid != graph_.threads[thread].pid && is_of_one_rank(threads, first));
}

// A process that ends closes its pipes and releases its locks. If a rank ends, the test is over; but another process
// may have set itself an alarm, which nobody can see, and those that wait for it go on.
bool ObservedEdges::has_mortal(const Thread& thread, const Party& party) const {
  return std::any_of(party.threads.begin(), party.threads.end(), [&](std::size_t each) {
    const Thread& other = graph_.threads[each];
    return other.rank < 0 && (other.host != thread.host || other.pid != thread.pid);
  });
}

std::string ObservedEdges::why_open(const Thread& thread, const wire::ObservedWait& seen, const Party& party) const {
  if (!seen.limit.empty()) return "it has a timeout of " + seen.limit;
  if (!seen.closed) return "a timer, a signal or something outside the seen processes may end it";
  if (party.open) return "a process that was not seen may end it";
  const bool is_for_end = seen.object == WaitObject::Child || seen.object == WaitObject::Process;
  return is_for_end || has_mortal(thread, party) ? "an alarm, which cannot be seen, may end the process" : "";
}

Wait ObservedEdges::wait_for(std::size_t thread, const wire::ObservedWait& seen) {
  Wait wait;
  const ThingKind kind = kind_of(seen.object);
  const Thread& waiter = graph_.threads[thread];
  wait.thing = things_.add(kind, seen.name, key_of(waiter.host, kind, seen.key));
  wait.need = Need::Any;
  wait.call = seen.call;
  wait.note = seen.note;
  Party party;
  for (const wire::WaitEnder& ender : seen.enders) {
    const std::size_t before = party.threads.size();
    if (!add_ender(party.threads, waiter.host, ender)) party.open = true;
    if (is_expected(thread, ender, party.threads, before)) wait.next.push_back(party.threads[before]);
  }
  wait.why_open = why_open(waiter, seen, party);
  wait.open = !wait.why_open.empty();
  if (!party.threads.empty()) wait.parties.push_back(roster_.add_party(std::move(party)));
  return wait;
}

}  // namespace distrun::runner::doctor
