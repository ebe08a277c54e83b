#pragma once
// One collection of stacks: from outside by a probe; for processes that refuse it, from inside through their own
// listener, whose addresses a second probe gives names. Lives on: the coordinator's loop.
//
//   probing   the probe reads all processes; three fifths of the time
//     some refused, and can be asked                    -> asking
//     else                                              -> over
//   asking    the rank's listeners were asked; half of the time that is left
//     all have answered, or the time is over            -> naming, or over if none has
//     the time is over, and some had no CPU meanwhile   -> asking, for that long, twice the time at most
//   naming    a probe gives names to what they answered -> over
//
// The bound ends it in any state with what has come by then; a probe or a rank that waits for a CPU moves it. Of
// processes of which the probe has told nothing, since it could not start, died or was stuck, the kernel's view is read
// here: of few threads, and that cannot block.
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
    int rank = -1;  // -1: none of the ranks, and nobody to ask
    pid_t pid = 0;
  };
  // Sends dump-stacks to a rank; false if it cannot be asked.
  using AskRank = std::function<bool(int rank)>;

  // `on_stacks` is called once, from the loop, within order.bound, or three times that on a busy
  // machine; it may destroy the collector.
  StackCollector(io::Loop& loop, Probe::Program program, std::vector<Target> targets, const StackOrder& order,
                 AskRank ask_rank, OnStacks on_stacks);

  pid_t probe_pid() const noexcept { return probe_ ? probe_->pid() : 0; }
  // A rank's answer. Ignored if it was not asked.
  void on_raw(int rank, wire::RawStacks raw);

 private:
  base::Nanoseconds left() const;
  void on_probed(ProbeResult result);
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
  AskRank ask_rank_;
  OnStacks on_stacks_;
  evidence::Stacks stacks_;
  struct Asked {
    std::size_t target = 0;
    base::Nanoseconds cpu_wait{};  // of its process by then
  };

  std::map<int, Asked> asked_;         // by rank, that have not answered
  base::Nanoseconds asking_{};         // the time that they have
  base::Nanoseconds extended_{};       // by how much that was extended because they waited for a CPU
  std::vector<std::size_t> answered_;  // targets, as in raw_
  std::vector<wire::RawStacks> raw_;
  std::unique_ptr<Probe> probe_;
  io::Alarm alarm_;  // of asking
};

// Puts threads with stacks from inside into a process of which the kernel's view is known. `shift` is added to their
// indices of frames.
void take_threads(evidence::Process& process, std::vector<wire::ThreadStack> threads, std::uint32_t shift);

}  // namespace distrun::launch
