#include "run_examiner.hpp"

#include <utility>

namespace distrun::cli {

RunExaminer::RunExaminer(io::Loop& loop, runner::Run& run, OnExamined on_examined)
    : run_(run), on_examined_(std::move(on_examined)), alarm_(loop, [this] { take({}, [this] { on_second(); }); }) {}

void RunExaminer::begin() {
  take(kSettling, [this] { on_first(); });
}

// Calls `then` when the snapshots of all running tests are complete, and their threads have settled.
void RunExaminer::take(base::Nanoseconds settle, const std::function<void()>& then) {
  to_come_ = run_.take_snapshot_now(
      [weak = weak_from_this(), then](const std::string& test, const runner::Snapshot& snapshot) {
        const std::shared_ptr<RunExaminer> self = weak.lock();
        if (!self) return;
        self->taken_.insert_or_assign(test, snapshot);
        if (--self->to_come_ == 0) then();
      },
      settle);
  if (to_come_ == 0) then();
}

void RunExaminer::on_first() {
  earlier_ = std::exchange(taken_, {});
  alarm_.set_after(kBetweenSnapshots);
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
