#pragma once
// Takes snapshots of an attempt's ranks: stacks on request, and names for the addresses that crashes and exceptions
// have left behind. A snapshot is pending until its result arrives; the attempt does not end before. Lives on: the
// coordinator's loop.
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include <distrun/runner/attempt/ranks.hpp>
#include <distrun/runner/attempt/throws.hpp>

namespace distrun::runner {

class Snapshots {
 public:
  using OnSnapshot = std::function<void(const Snapshot&)>;

  // `ranks` must outlive this. `on_over` is called when a snapshot is no longer pending.
  Snapshots(Ranks& ranks, std::function<void(SnapshotKind)> on_over) : ranks_(ranks), on_over_(std::move(on_over)) {}

  int pending() const noexcept { return pending_; }
  // Reads the stacks of all ranks within `bound` and passes them to `on_snapshot`, or to the log if that is empty.
  // `settle`: as in launch::StackOrder.
  void take(SnapshotKind kind, Nanoseconds bound, OnSnapshot on_snapshot, Nanoseconds settle = {});
  // Names the stack of a rank that was ended by a signal or exit(), or together with its process. Ranks that crash
  // while a probe is at work share the next one.
  void name_crash(const RankRecord& rank);
  // Names the stack of an exception, which a rank survives. `error` is its index among the rank's errors. If no probe
  // answers, the error stays as it is.
  void name_throw(int rank, std::size_t error, wire::RawStacks stack);
  // Call once, when no rank can throw any more: reports ranks that threw at the same place together.
  void tell_throws();

 private:
  struct Crash {
    int rank = 0;
    board::Dump dump;
  };

  Snapshot begin(SnapshotKind kind);
  void end(Snapshot snapshot, evidence::Stacks stacks, const OnSnapshot& on_snapshot = {});
  void name_crashes();
  void on_crashes_named(Snapshot snapshot, const std::vector<Crash>& crashes, evidence::Stacks stacks);
  void name_throws();
  void on_throws_named(evidence::Stacks stacks);
  void end_one(SnapshotKind kind);

  Ranks& ranks_;
  std::function<void(SnapshotKind)> on_over_;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);  // guards callbacks with stacks that arrive later
  int pending_ = 0;
  std::vector<Crash> crashes_;  // crashes with addresses that have no names yet
  bool naming_ = false;         // a probe is naming earlier crashes
  Throws throws_;
  Snapshot throws_snapshot_;  // timed from the first error with a stack
};

}  // namespace distrun::runner
