#include <distrun/runner/attempt/snapshots.hpp>

#include <algorithm>
#include <utility>

#include <distrun/common/board/describe.hpp>
#include <distrun/runner/attempt/crash_error.hpp>
#include <distrun/runner/attempt/script_note.hpp>
#include <distrun/runner/mpi/waits.hpp>
#include <distrun/runner/record/snapshot.hpp>

namespace distrun::runner {
namespace {

// A rank that is just waking up, or writing its record, briefly shows no wait. Its later view counts if it shows a wait
// that began before the snapshot.
bool counts_instead(const RankView& again, const RankView& view, std::int64_t at_ns) {
  if (board::wait_of_body(*view.shown) != nullptr) return false;
  const board::ShownWait* const wait = board::wait_of_body(*again.shown);
  return wait != nullptr && wait->since_ns <= at_ns;
}

// Both are in the order of the ranks.
void read_again(Snapshot& snapshot, std::vector<RankView> later) {
  auto again = later.begin();
  for (RankView& view : snapshot.ranks) {
    again = std::find_if(again, later.end(), [&view](const RankView& each) { return each.rank >= view.rank; });
    if (again == later.end()) return;
    if (again->rank != view.rank || !view.shown || !again->shown) continue;
    const bool progressed = again->shown->epoch != view.shown->epoch;
    if (counts_instead(*again, view, snapshot.at_ns)) view = std::move(*again);
    view.progressed = progressed;
  }
}

// The thread was not inspected, but it is known to have called exit().
void show_in_exit(evidence::Stacks& stacks, int rank) {
  for (evidence::Process& process : stacks.processes) {
    if (process.rank != rank) continue;
    for (wire::ThreadStack& thread : process.threads) {
      thread.task.state = 'R';
      thread.task.syscall = "exit()";
    }
  }
}

}  // namespace

Snapshot Snapshots::begin(SnapshotKind kind) {
  ++pending_;
  Snapshot snapshot;
  snapshot.kind = kind;
  snapshot.at = ranks_.log.age();
  snapshot.hosts = ranks_.hosts();
  return snapshot;
}

void Snapshots::take(SnapshotKind kind, Nanoseconds bound, OnSnapshot on_snapshot, Nanoseconds settle) {
  Snapshot snapshot = begin(kind);
  snapshot.at_ns = monotonic_ns(ranks_.run.loop.clock().now());
  snapshot.ranks = ranks_.views();
  launch::StackOrder order;
  order.bound = bound;
  order.settle = settle;
  order.adopted = ranks_.spawned;
  const std::uint64_t sent = ranks_.messaging.sent();
  ranks_.world->collect_stacks(order, [this, alive = std::weak_ptr(alive_), snapshot = std::move(snapshot), sent,
                                       on_snapshot = std::move(on_snapshot)](evidence::Stacks stacks) mutable {
    if (alive.expired()) return;
    snapshot.has_news_in_flight = ranks_.may_have_news_since(sent);
    read_again(snapshot, ranks_.views());
    end(std::move(snapshot), std::move(stacks), on_snapshot);
  });
}

void Snapshots::end(Snapshot snapshot, evidence::Stacks stacks, const OnSnapshot& on_snapshot) {
  snapshot.took = ranks_.log.age() - snapshot.at;
  snapshot.stacks = std::move(stacks);
  snapshot.stacks.hosts = snapshot.hosts;
  if (ranks_.mpi != nullptr) mpi::add_calls(*ranks_.mpi, snapshot);
  snapshot.text = describe(snapshot);
  if (ranks_.test.is_program()) {
    find_scripts(snapshot.stacks);  // nodes on other machines have done it for theirs
    add_script_notes(snapshot);
  }
  const SnapshotKind kind = snapshot.kind;
  on_snapshot ? on_snapshot(snapshot) : ranks_.log.add_snapshot(std::move(snapshot));
  end_one(kind);
}

void Snapshots::end_one(SnapshotKind kind) {
  --pending_;
  on_over_(kind);
}

void Snapshots::name_crash(const RankRecord& rank) {
  auto dump = ranks_.world->crash(rank.rank);
  if (!dump) return;
  const bool has_crashed = dump->signal != 0;
  const bool is_end = has_crashed && dump->signal == rank.signal;
  const bool is_dragged = has_crashed && rank.signal == 0 && dump->rank == rank.rank;
  const bool is_exit = !has_crashed && rank.outcome.kind == OutcomeKind::Exited;
  if (!is_end && !is_dragged && !is_exit) return;
  crashes_.push_back({rank.rank, std::move(*dump)});
  if (!naming_) name_crashes();
}

void Snapshots::name_crashes() {
  naming_ = true;
  std::vector<std::pair<int, wire::RawStacks>> raw;
  for (Crash& crash : crashes_) raw.emplace_back(crash.rank, std::move(crash.dump.stacks));
  ranks_.world->name_stacks("crash handler", std::move(raw), ranks_.run.graces.evidence,
                            [this, alive = std::weak_ptr(alive_), snapshot = begin(SnapshotKind::Crash),
                             crashes = std::exchange(crashes_, {})](evidence::Stacks stacks) {
                              if (!alive.expired()) on_crashes_named(snapshot, crashes, std::move(stacks));
                            });
}

void Snapshots::on_crashes_named(Snapshot snapshot, const std::vector<Crash>& crashes, evidence::Stacks stacks) {
  for (const Crash& crash : crashes) {
    if (crash.dump.signal == 0) show_in_exit(stacks, crash.rank);
  }
  for (const Crash& crash : crashes) ranks_.log.add_error(crash.rank, crash_error(crash.rank, crash.dump, stacks));
  naming_ = false;
  if (!crashes_.empty()) name_crashes();
  end(std::move(snapshot), std::move(stacks));
}

void Snapshots::name_throw(int rank, std::size_t error, wire::RawStacks stack) {
  throws_.add(rank, error, std::move(stack));
  name_throws();
}

void Snapshots::name_throws() {
  Throws::Batch batch = throws_.next_batch();
  if (batch.empty()) return;
  if (throws_snapshot_.kind != SnapshotKind::Exception) throws_snapshot_.at = ranks_.log.age();
  throws_snapshot_.kind = SnapshotKind::Exception;
  ++pending_;
  ranks_.world->name_stacks("exception", std::move(batch), ranks_.run.graces.evidence,
                            [this, alive = std::weak_ptr(alive_)](evidence::Stacks stacks) {
                              if (!alive.expired()) on_throws_named(std::move(stacks));
                            });
}

void Snapshots::on_throws_named(evidence::Stacks stacks) {
  throws_.named(std::move(stacks), [this](int rank, std::size_t error) { return ranks_.log.find_error(rank, error); });
  throws_snapshot_.took = ranks_.log.age() - throws_snapshot_.at;
  name_throws();
  end_one(SnapshotKind::Exception);
}

void Snapshots::tell_throws() {
  throws_snapshot_.stacks = throws_.take();
  if (throws_snapshot_.stacks.processes.empty()) return;
  throws_snapshot_.hosts = throws_snapshot_.stacks.hosts = ranks_.hosts();
  throws_snapshot_.text = describe(throws_snapshot_);
  ranks_.log.add_snapshot(std::move(throws_snapshot_));
}

}  // namespace distrun::runner
