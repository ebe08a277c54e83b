#pragma once
// Collects stacks once: from outside by a probe; from processes that refuse it, from inside through their own listener;
// a second probe then names their addresses. Lives on: the coordinator's loop.
//
//   probing   the probe reads all processes; three fifths of the time
//     some refused, and can be asked; not if gentle      -> asking
//     otherwise                                         -> over
//   asking    waits for the ranks' listeners; half of the remaining time, at most 1 s
//     all have answered, or the time is over            -> naming, or over if none has answered
//     the time is over, but some had no CPU meanwhile   -> asking, for that long, at most twice the time
//   naming    a probe names the addresses in the answers -> over
//
// The bound ends it in any state with what has arrived by then; if a probe or a rank waits for a CPU, the bound moves.
// If the probe reported nothing of a process (it did not start, died or was stuck), the kernel's view is read here, of
// a limited number of threads, which cannot block.
#include <functional>
#include <map>
#include <memory>
#include <vector>

#include <distrun/runner/launch/node.hpp>
#include <distrun/runner/launch/probe.hpp>

namespace distrun::launch {

class StackCollector {
 public:
  struct Target {
    int rank = -1;  // -1: not a rank, cannot be asked
    pid_t pid = 0;
  };
  // Sends dump-stacks to a rank; returns false if it cannot be asked.
  using AskRank = std::function<bool(int rank)>;

  // Calls `on_stacks` once, from the loop, within order.bound (three times that on a busy machine); may destroy this.
  StackCollector(io::Loop& loop, Probe::Program program, std::vector<Target> targets, const StackOrder& order,
                 AskRank ask_rank, OnStacks on_stacks);

  pid_t probe_pid() const noexcept { return probe_ ? probe_->pid() : 0; }
  // Takes a rank's answer. Ignored if the rank was not asked.
  void on_raw(int rank, wire::RawStacks raw);

 private:
  base::Nanoseconds left() const;
  void on_probed(ProbeResult result);
  void take_descendants(const ProbeResult& result);
  void ask_those_that_refused();
  void on_asking_bound();
  void name_answers();
  void on_named(ProbeResult result);
  void finish();
  evidence::Process& process_of(std::size_t target);
  void read_kernel(evidence::Process& process) const;
  void add_source(std::size_t target, const char* name, bool answered, const std::string& why_not);

  io::Loop& loop_;
  Probe::Program program_;
  std::vector<Target> targets_;
  base::TimePoint deadline_;
  bool gentle_;
  AskRank ask_rank_;
  OnStacks on_stacks_;
  evidence::Stacks stacks_;
  struct Asked {
    std::size_t target = 0;
    base::Nanoseconds cpu_wait{};  // of its process when it was asked
  };

  std::map<int, Asked> asked_;         // by rank: those that have not answered
  base::Nanoseconds asking_{};         // the time to answer
  base::Nanoseconds extended_{};       // extension of that, because ranks waited for a CPU
  std::vector<std::size_t> answered_;  // targets, in the order of raw_
  std::vector<wire::RawStacks> raw_;
  std::unique_ptr<Probe> probe_;
  io::Alarm alarm_;  // ends asking
};

// Merges threads with stacks from inside into a process with the kernel's view. Adds `shift` to their frame indices.
void take_threads(evidence::Process& process, std::vector<wire::ThreadStack> threads, std::uint32_t shift);

}  // namespace distrun::launch
