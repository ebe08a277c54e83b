#include <distrun/runner/launch/world_stacks.hpp>

#include <algorithm>
#include <iterator>

#include <distrun/runner/launch/cpu_times.hpp>

namespace distrun::launch {

bool WorldStacks::join(const StackOrder& order, OnStacks on_stacks) {
  const bool is_under_way = collector_ != nullptr;
  waiting_.push_back({std::move(on_stacks), order.settle, is_under_way});
  return is_under_way;
}

void WorldStacks::collect(std::vector<StackCollector::Target> targets, const StackOrder& order,
                          StackCollector::AskRank ask, std::weak_ptr<const void> guard) {
  collector_ = std::make_unique<StackCollector>(loop_, probe_, std::move(targets), order, std::move(ask),
                                                [this, guard = std::move(guard)](evidence::Stacks stacks) {
                                                  if (const auto alive = guard.lock())
                                                    on_collected(guard, std::move(stacks));
                                                });
}

void WorldStacks::collect_gently(std::vector<StackCollector::Target> targets, const StackOrder& order,
                                 OnStacks on_stacks, std::weak_ptr<const void> guard) {
  const auto never_ask = [](int) { return false; };
  gentle_ = std::make_unique<StackCollector>(
      loop_, probe_, std::move(targets), order, never_ask,
      [this, on_stacks = std::move(on_stacks), guard = std::move(guard)](evidence::Stacks stacks) {
        if (guard.expired()) return;
        stacks.times_are_later = true;
        if (thread_ranks_ > 0) tell_ranks_apart(stacks);
        on_stacks(std::move(stacks));
      });
}

void WorldStacks::on_collected(const std::weak_ptr<const void>& guard, evidence::Stacks stacks) {
  collector_.reset();
  if (thread_ranks_ > 0) tell_ranks_apart(stacks);
  for (Waiting& request : std::exchange(waiting_, {})) {
    stacks.may_be_older = request.has_joined;
    request.settle.count() > 0 ? settle(std::move(request), stacks, guard) : request.on_stacks(stacks);
  }
}

void WorldStacks::settle(Waiting request, evidence::Stacks stacks, std::weak_ptr<const void> guard) {
  const int number = ++last_settling_;
  auto settling = std::make_unique<Settling>(loop_, std::move(request.on_stacks), std::move(stacks),
                                             [this, number, guard = std::move(guard)] { on_settled(number, guard); });
  settling->alarm.set_after(request.settle);
  settling_.emplace(number, std::move(settling));
}

void WorldStacks::on_settled(int number, const std::weak_ptr<const void>& guard) {
  const auto alive = guard.lock();
  if (!alive) return;
  const std::unique_ptr<Settling> settled = std::move(settling_.extract(number).mapped());
  read_cpu_times_again(settled->stacks);
  settled->on_stacks(std::move(settled->stacks));
}

// Splits the stacks of the process that all ranks share: each rank gets the thread that runs its body according to the
// board; the other threads belong to the process.
void WorldStacks::tell_ranks_apart(evidence::Stacks& stacks) const {
  if (stacks.processes.empty()) return;
  evidence::Process common = std::move(stacks.processes.front());
  std::vector<evidence::Process> started(std::make_move_iterator(stacks.processes.begin() + 1),
                                         std::make_move_iterator(stacks.processes.end()));
  stacks.processes.clear();
  common.rank = -1;
  common.has_thread_ranks = true;
  for (int rank = 0; rank < thread_ranks_; ++rank) {
    const auto seen = world_.shown(rank);
    evidence::Process own = common;
    own.rank = rank;
    own.threads.clear();
    const auto is_own = [&](const wire::ThreadStack& thread) { return seen && thread.task.tid == seen->body_tid; };
    std::copy_if(common.threads.begin(), common.threads.end(), std::back_inserter(own.threads), is_own);
    std::erase_if(common.threads, is_own);
    stacks.processes.push_back(std::move(own));
  }
  stacks.processes.push_back(std::move(common));
  for (evidence::Process& process : started) {
    process.of_rank = -1;  // each of the ranks may have started it
    stacks.processes.push_back(std::move(process));
  }
}

void WorldStacks::take(int process, const wire::Frame& frame) {
  auto raw = wire::decode<wire::RawStacks>(wire::view_of(frame.payload));
  if (collector_) collector_->on_raw(process, std::move(raw));
}

void WorldStacks::name(const char* source, std::vector<std::pair<int, wire::RawStacks>> by_rank,
                       base::Nanoseconds bound, OnStacks on_stacks) {
  wire::ProbeOrder order;
  std::vector<int> ranks;
  for (auto& [rank, raw] : by_rank) {
    ranks.push_back(rank);
    order.raw.push_back(std::move(raw));
  }
  naming_.push_back(std::make_unique<Probe>(loop_, probe_, order, bound,
                                            [source, ranks, on_stacks = std::move(on_stacks)](ProbeResult result) {
                                              for (evidence::Process& process : result.stacks.processes) {
                                                const auto index = static_cast<std::size_t>(process.index);
                                                if (index < ranks.size()) process.rank = ranks[index];
                                                process.sources.push_back({source, true, result.error});
                                              }
                                              on_stacks(std::move(result.stacks));
                                            }));
}

bool WorldStacks::is_probe(pid_t pid) const noexcept {
  if (collector_ && collector_->probe_pid() == pid) return true;
  if (gentle_ && gentle_->probe_pid() == pid) return true;
  return std::any_of(naming_.begin(), naming_.end(), [pid](const auto& probe) { return probe->pid() == pid; });
}

}  // namespace distrun::launch
