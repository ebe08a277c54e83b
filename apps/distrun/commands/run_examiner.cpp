#include "run_examiner.hpp"

#include <utility>

#include <distrun/runner/launch/cpu_times.hpp>

namespace distrun::cli {

RunExaminer::RunExaminer(io::Loop& loop, runner::Run& run, OnExamined on_examined)
    : loop_(loop), run_(run), on_examined_(std::move(on_examined)), alarm_(loop, [this] { on_alarm(); }) {}

void RunExaminer::begin() {
  take([this] { on_first(); });
}

// Calls `then` when the snapshots of all running tests are complete.
void RunExaminer::take(const std::function<void()>& then) {
  to_come_ = run_.take_snapshot_now(
      [weak = weak_from_this(), then](const std::string& test, const runner::Snapshot& snapshot) {
        const std::shared_ptr<RunExaminer> self = weak.lock();
        if (!self) return;
        self->taken_.insert_or_assign(test, snapshot);
        if (--self->to_come_ == 0) then();
      });
  if (to_come_ == 0) then();
}

void RunExaminer::on_first() {
  earlier_ = std::exchange(taken_, {});
  alarm_.set(loop_.clock().now() + kSettling);
}

void RunExaminer::on_alarm() {
  if (std::exchange(settled_, true)) return take([this] { on_second(); });
  for (auto& [test, snapshot] : earlier_) launch::read_cpu_times_again(snapshot.stacks);
  alarm_.set(loop_.clock().now() + kBetweenSnapshots);
}

void RunExaminer::on_second() {
  std::vector<ExaminedTest> tests;
  for (auto& [test, snapshot] : taken_) {
    const auto before = earlier_.find(test);
    runner::doctor::Examination examination =
        runner::doctor::examine(snapshot, before == earlier_.end() ? nullptr : &before->second);
    tests.push_back({test, std::move(snapshot), std::move(examination)});
  }
  on_examined_(std::move(tests));
}

}  // namespace distrun::cli
