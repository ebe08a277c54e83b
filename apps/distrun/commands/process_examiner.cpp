#include "process_examiner.hpp"

#include <unistd.h>

#include <algorithm>
#include <utility>

#include <distrun/runner/launch/cpu_times.hpp>
#include <distrun/runner/record/snapshot.hpp>

#include "process_stacks.hpp"

namespace distrun::cli {
namespace {

constexpr int kDescendantsMax = 64;

}  // namespace

ProcessExaminer::ProcessExaminer(io::Loop& loop, std::vector<int> pids, OnExamined on_examined)
    : loop_(loop),
      pids_(std::move(pids)),
      on_examined_(std::move(on_examined)),
      began_(loop.clock().now()),
      alarm_(loop, [this] { on_alarm(); }) {}

void ProcessExaminer::take() {
  taken_ = loop_.clock().now();
  collector_ = stacks_of_processes(loop_, pids_, kDescendantsMax,
                                   [this](evidence::Stacks stacks) { on_stacks(std::move(stacks)); });
}

void ProcessExaminer::on_stacks(evidence::Stacks stacks) {
  const base::TimePoint now = loop_.clock().now();
  runner::Snapshot snapshot;
  snapshot.kind = runner::SnapshotKind::Asked;
  snapshot.at = taken_ - began_;
  snapshot.took = now - taken_;
  snapshot.at_ns = runner::monotonic_ns(taken_);
  snapshot.stacks = std::move(stacks);
  std::erase_if(snapshot.stacks.processes, [this](const auto& each) { return is_ours(each.pid); });
  snapshots_.push_back(std::move(snapshot));
  if (snapshots_.size() > 1) return finish();
  alarm_.set(now + kSettling);
}

// If the command was started by one of the processes, it is not what hangs.
bool ProcessExaminer::is_ours(int pid) const {
  return pid == ::getpid() && std::find(pids_.begin(), pids_.end(), pid) == pids_.end();
}

void ProcessExaminer::on_alarm() {
  if (std::exchange(settled_, true)) return take();
  launch::read_cpu_times_again(snapshots_.front().stacks);
  alarm_.set_after(kBetweenSnapshots);
}

void ProcessExaminer::finish() {
  ExaminedTest examined;
  examined.snapshot = std::move(snapshots_.back());
  examined.examination =
      runner::doctor::examine(examined.snapshot, &snapshots_.front(), static_cast<int>(pids_.size()));
  examined.snapshot.text = runner::describe(examined.snapshot);
  on_examined_(std::move(examined));
}

}  // namespace distrun::cli
