#pragma once
// The stacks of a world's ranks: one collection at a time, which concurrent requests share, and the naming of stacks
// that ranks have recorded themselves. Lives on: the coordinator's loop.
#include <functional>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include <distrun/runner/launch/stack_collector.hpp>

namespace distrun::launch {

class WorldStacks {
 public:
  // `world` shows what ranks do, and must outlive this. `thread_ranks`: how many ranks share its process; 0: none do.
  WorldStacks(io::Loop& loop, Probe::Program probe, const World& world, int thread_ranks)
      : loop_(loop), probe_(std::move(probe)), world_(world), thread_ranks_(thread_ranks) {}

  // Waits for the collection that is under way. Returns false if no collection is under way: call collect() then.
  bool join(const StackOrder& order, OnStacks on_stacks);
  // Collects for all waiting requests. `guard` is locked while they are notified; if it has expired, they are not.
  void collect(std::vector<StackCollector::Target> targets, const StackOrder& order, StackCollector::AskRank ask,
               std::weak_ptr<const void> guard);
  // Collects by a gentle order, whatever else is under way, for `on_stacks` alone; ends an earlier gentle collection.
  void collect_gently(std::vector<StackCollector::Target> targets, const StackOrder& order, OnStacks on_stacks,
                      std::weak_ptr<const void> guard);
  // Takes an answer to `ask`. Throws Error if it cannot be decoded.
  void take(int process, const wire::Frame& frame);
  // Names stacks, as World::name_stacks() says.
  void name(const char* source, std::vector<std::pair<int, wire::RawStacks>> by_rank, base::Nanoseconds bound,
            OnStacks on_stacks);
  // Returns whether the process is a probe at work.
  bool is_probe(pid_t pid) const noexcept;

 private:
  // A request that shares a collection.
  struct Waiting {
    OnStacks on_stacks;
    base::Nanoseconds settle{};  // as the order says
    bool has_joined = false;     // the collection had begun before
  };
  // Stacks that are held until the threads are back in their waits.
  struct Settling {
    Settling(io::Loop& loop, OnStacks to, evidence::Stacks taken, std::function<void()> on_time)
        : on_stacks(std::move(to)), stacks(std::move(taken)), alarm(loop, std::move(on_time)) {}

    OnStacks on_stacks;
    evidence::Stacks stacks;
    io::Alarm alarm;
  };

  void on_collected(const std::weak_ptr<const void>& guard, evidence::Stacks stacks);
  void settle(Waiting request, evidence::Stacks stacks, std::weak_ptr<const void> guard);
  void on_settled(int number, const std::weak_ptr<const void>& guard);
  void tell_ranks_apart(evidence::Stacks& stacks) const;

  io::Loop& loop_;
  const Probe::Program probe_;
  const World& world_;
  const int thread_ranks_;
  std::unique_ptr<StackCollector> collector_;  // the current collection
  std::vector<Waiting> waiting_;               // requests that get its result
  int last_settling_ = 0;                      // a number
  std::map<int, std::unique_ptr<Settling>> settling_;
  std::unique_ptr<StackCollector> gentle_;  // stops no process, so it may run beside the other
  std::vector<std::unique_ptr<Probe>> naming_;
};

}  // namespace distrun::launch
