#pragma once
// Examines any processes for `distrun doctor`, with those that they have started: takes two snapshots a moment apart,
// and finds out why they hang. Lives on: a loop.
#include <functional>
#include <memory>
#include <vector>

#include <distrun/common/io/loop.hpp>
#include <distrun/runner/launch/stack_collector.hpp>

#include "examination.hpp"

namespace distrun::cli {

class ProcessExaminer {
 public:
  using OnExamined = std::function<void(ExaminedTest)>;

  ProcessExaminer(io::Loop& loop, std::vector<int> pids, OnExamined on_examined);

  // Call once. Calls `on_examined` once, from the loop.
  void begin() { take(); }

 private:
  void take();
  void on_stacks(evidence::Stacks stacks);
  bool is_ours(int pid) const;
  void on_alarm();
  void finish();

  io::Loop& loop_;
  std::vector<int> pids_;
  OnExamined on_examined_;
  std::unique_ptr<launch::StackCollector> collector_;
  base::TimePoint began_{};  // the first snapshot
  base::TimePoint taken_{};  // the current one
  std::vector<runner::Snapshot> snapshots_;
  bool settled_ = false;
  io::Alarm alarm_;
};

}  // namespace distrun::cli
