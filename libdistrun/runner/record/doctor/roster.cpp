#include <distrun/runner/record/doctor/roster.hpp>

#include <algorithm>

#include <distrun/common/board/describe.hpp>
#include <distrun/runner/record/snapshot.hpp>

namespace distrun::runner::doctor {
namespace {

// Returns the rank of the process, or the one that it descends from; -1: none.
int rank_behind(const evidence::Process& process) { return process.rank >= 0 ? process.rank : process.of_rank; }

std::vector<std::string> last_sent(const board::Shown& shown, const base::RankHosts& hosts) {
  std::vector<std::string> sent;
  for (auto each = shown.operations.rbegin(); each != shown.operations.rend() && sent.size() < kSentMax; ++each) {
    if (each->kind == board::WaitKind::Send) sent.push_back(board::describe(*each, hosts));
  }
  return sent;
}

}  // namespace

Roster::Roster(const Snapshot& snapshot, Graph& graph)
    : snapshot_(snapshot), graph_(graph), machines_(snapshot), classes_(snapshot.stacks.table) {
  graph_.hosts = snapshot.hosts;
  graph_.machines = machines_.names();
  for (const RankView& view : snapshot.ranks) add_view(view);
  for (const evidence::Process& process : snapshot.stacks.processes) add_process(process);
  for (const auto& [rank, body] : bodies_) graph_.bodies.push_back(body);
  for (std::size_t i = 0; i < seen_.size(); ++i) {
    if (graph_.threads[i].is_body && graph_.threads[i].rank < 0) graph_.bodies.push_back(i);
  }
}

std::size_t Roster::add(int rank, const ThreadId& id) {
  const std::size_t index = graph_.threads.size();
  Thread& thread = graph_.threads.emplace_back();
  thread.rank = thread.of_rank = rank;
  thread.host = id.host;
  thread.pid = id.pid;
  thread.tid = id.tid;
  seen_.emplace_back();
  if (id.tid != 0) by_id_.try_emplace(id, index);
  if (rank >= 0) of_rank_[rank].push_back(index);
  return index;
}

void Roster::set_wait(std::size_t thread, const board::ShownWait* wait) {
  Seen& seen = seen_[thread];
  seen.wait = wait;
  if (wait != nullptr) seen.awaited = awaited(snapshot_.ranks, graph_.threads[thread].rank, *wait, snapshot_.hosts);
}

void Roster::add_view(const RankView& view) {
  if (bodies_.contains(view.rank)) return;
  const int host = machines_.of_rank(view.rank);
  const int pid = view.shown ? view.shown->pid : 0;
  const std::size_t body = add(view.rank, {host, pid, view.shown ? view.shown->body_tid : 0});
  bodies_[view.rank] = body;
  Thread& thread = graph_.threads[body];
  thread.is_body = true;
  if (!view.shown) return;
  thread.has_shown = true;
  thread.sent = last_sent(*view.shown, graph_.hosts);
  set_wait(body, board::wait_of_body(*view.shown));
  for (const board::ShownWait& wait : view.shown->waits) {
    if (wait.in_body) continue;
    const ThreadId id{host, pid, wait.tid};
    const std::size_t* const known = find(id);
    const std::size_t other = known != nullptr ? *known : add(view.rank, id);
    if (wait.kind == board::WaitKind::Handler) seen_[other].handler = &wait;
    set_wait(other, board::wait_of_thread(*view.shown, wait));
  }
  for (const std::size_t each : of_rank_[view.rank]) {
    graph_.threads[each].phase = view.shown->phase;
    graph_.threads[each].epoch = view.shown->epoch;
    graph_.threads[each].progressed = view.progressed;
    graph_.threads[each].since_ns = view.shown->phase_since_ns;
  }
}

// The stacks of a rank may lack its process id, and a rank that shows nothing yet has not begun its body, which its
// main thread will run.
void Roster::add_process(const evidence::Process& process) {
  if (process.threads.empty()) return;
  if (process.rank >= 0) known_.insert(process.rank);
  if (const auto body = bodies_.find(process.rank); body != bodies_.end()) {
    Thread& thread = graph_.threads[body->second];
    if (thread.pid == 0) thread.pid = process.pid;
    if (thread.tid == 0) {
      thread.tid = process.threads.front().task.tid;
      by_id_.try_emplace(thread.id(), body->second);
    }
  }
  for (const wire::ThreadStack& stack : process.threads) {
    if (!wire::is_task(stack)) add_stack(process, stack);  // the thread of its event loop stands for it
  }
}

void Roster::add_stack(const evidence::Process& process, const wire::ThreadStack& stack) {
  const auto body = bodies_.find(process.rank);
  const bool has_body = body != bodies_.end();
  const ThreadId id{process.host, has_body ? graph_.threads[body->second].pid : process.pid, stack.task.tid};
  const std::size_t* const known = find(id);
  const std::size_t index = known != nullptr ? *known : add(process.rank, id);
  Thread& thread = graph_.threads[index];
  if (known == nullptr) {
    thread.of_rank = rank_behind(process);
    if (process.rank < 0 && thread.of_rank >= 0) of_rank_[thread.of_rank].push_back(index);
    const bool is_main = &stack == &process.threads.front();
    if (has_body) {
      thread.phase = graph_.threads[body->second].phase;
      thread.epoch = graph_.threads[body->second].epoch;
      thread.progressed = graph_.threads[body->second].progressed;
    } else if (is_main && !process.has_thread_ranks) {
      thread.is_body = true;
      if (process.rank >= 0) bodies_[process.rank] = index;
    }
  }
  describe(index, process, stack);
}

void Roster::describe(std::size_t index, const evidence::Process& process, const wire::ThreadStack& stack) {
  Thread& thread = graph_.threads[index];
  seen_[index].stack = &stack;
  thread.name = stack.task.name;
  thread.command = process.command;
  thread.cpu_ns = stack.task.cpu_ns;
  thread.wants_cpu = stack.task.state == 'R';
  const bool has_own_name = thread.name.starts_with("distrun-") && thread.name != process.threads.front().task.name;
  thread.is_own = has_own_name && !thread.is_body && classes_.is_of_distrun(stack);
  const wire::StackFrame* const frame = classes_.innermost_user_frame(stack);
  if (frame != nullptr) thread.place = {frame->function, frame->file, frame->line};
}

std::size_t Roster::body(int rank) {
  const auto found = bodies_.find(rank);
  if (found != bodies_.end()) return found->second;
  const std::size_t index = add(rank, {machines_.of_rank(rank)});
  graph_.threads[index].doing = Doing::Ended;
  graph_.threads[index].is_body = true;
  bodies_[rank] = index;
  return index;
}

std::size_t Roster::idle(int rank) {
  if (!has_rank(rank)) return body(rank);
  const auto [found, is_new] = idle_.try_emplace(rank, graph_.threads.size());
  if (is_new) {
    const Thread& its_body = graph_.threads[body(rank)];
    const std::size_t index = add(rank, {its_body.host, its_body.pid});
    graph_.threads[index].doing = Doing::Idle;
  }
  return found->second;
}

Indices Roster::threads_of(int rank) const {
  const auto found = of_rank_.find(rank);
  return found == of_rank_.end() ? Indices{} : found->second;
}

Indices Roster::threads_in(int host, int pid) const {
  Indices threads;
  const auto is_there = [&](const ThreadId& id) { return id.host == host && id.pid == pid; };
  for (auto each = by_id_.lower_bound({host, pid}); each != by_id_.end() && is_there(each->first); ++each) {
    const bool is_first = graph_.threads[each->second].is_body;
    threads.insert(is_first ? threads.begin() : threads.end(), each->second);
  }
  return threads;
}

const std::size_t* Roster::find(const ThreadId& id) const {
  const auto found = by_id_.find(id);
  return found == by_id_.end() ? nullptr : &found->second;
}

std::size_t Roster::add_party(Party party) {
  graph_.parties.push_back(std::move(party));
  return graph_.parties.size() - 1;
}

std::size_t Roster::party_of(int rank) {
  const auto known = parties_.find(rank);
  if (known != parties_.end()) return known->second;
  const std::size_t index = add_party(find_party(rank));
  parties_[rank] = index;
  return index;
}

// Threads that are not known, because a stack could not be taken or is of another process of ranks, may act as well.
Party Roster::find_party(int rank) {
  const std::size_t first = body(rank);
  Party party{{first}, false};
  if (graph_.threads[first].doing == Doing::Ended) return party;
  party.open = !known_.contains(rank) || snapshot_.stacks.cut;
  for (const std::size_t each : threads_of(rank)) {
    if (each != first && !graph_.threads[each].is_own && graph_.threads[each].tid != 0) party.threads.push_back(each);
  }
  for (const std::size_t each : threads_in(graph_.threads[first].host, graph_.threads[first].pid)) {
    if (graph_.threads[each].rank < 0 && !graph_.threads[each].is_own) party.threads.push_back(each);
  }
  return party;
}

bool Roster::is_stopped(int rank) const {
  const auto body = bodies_.find(rank);
  if (body == bodies_.end() || seen_[body->second].stack == nullptr) return false;
  const auto state = static_cast<char>(seen_[body->second].stack->task.state);
  return state == 'T' || state == 't';
}

}  // namespace distrun::runner::doctor
