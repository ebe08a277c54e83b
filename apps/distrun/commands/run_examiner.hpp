#pragma once
// Examines the running tests of a run for `distrun doctor`: takes two snapshots of each, a moment apart, and finds out
// why its ranks hang. Lives on: the coordinator's loop.
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <distrun/common/io/loop.hpp>
#include <distrun/runner/run/run.hpp>

#include "examination.hpp"

namespace distrun::cli {

class RunExaminer : public std::enable_shared_from_this<RunExaminer> {
 public:
  using OnExamined = std::function<void(std::vector<ExaminedTest>)>;

  // `run` must outlive it.
  RunExaminer(io::Loop& loop, runner::Run& run, OnExamined on_examined);

  // Call once. Calls `on_examined` once, perhaps before it returns; not if this is destroyed before.
  void begin();

 private:
  void take(base::Nanoseconds settle, const std::function<void()>& then);
  void on_first();
  void on_second();

  runner::Run& run_;
  OnExamined on_examined_;
  int to_come_ = 0;
  std::map<std::string, runner::Snapshot> taken_;
  std::map<std::string, runner::Snapshot> earlier_;
  io::Alarm alarm_;
};

}  // namespace distrun::cli
