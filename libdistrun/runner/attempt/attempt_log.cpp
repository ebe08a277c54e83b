#include <distrun/runner/attempt/attempt_log.hpp>

#include <cmath>
#include <string>
#include <utility>

#include <distrun/common/board/describe.hpp>
#include <distrun/runner/record/doctor/cause_text.hpp>
#include <distrun/runner/record/snapshot.hpp>

namespace distrun::runner {
namespace {

constexpr std::size_t kErrorsMax = 100;  // per rank
constexpr std::size_t kNotesMax = 1000;
constexpr std::size_t kMeasuresMax = 1000;
constexpr std::size_t kKeptBytesMax = std::size_t{4} << 20;  // of a rank's notes and measured values together
constexpr std::size_t kLeaksMax = 1000;                      // reported by ranks
constexpr std::size_t kSnapshotsMax = 10;

// Phases come in order unless a rank sends nonsense; the first of each counts.
void note_body(RankRecord& rank, wire::Phase phase, Nanoseconds at) {
  const bool began = rank.body_began.count() > 0;
  if (phase == wire::Phase::Body && !began) rank.body_began = at;
  if (phase > wire::Phase::Body && began && rank.body_ended.count() == 0) rank.body_ended = at;
}

// Returns whether a text of that size is kept. What does not fit is dropped; a smaller text may still fit.
bool has_room(RankState& rank, std::size_t bytes) {
  if (bytes > kKeptBytesMax - rank.kept_bytes) return false;
  rank.kept_bytes += bytes;
  return true;
}

std::string label_of(const RankRecord& rank) {
  const std::string number = "rank " + std::to_string(rank.rank);
  return rank.host.empty() ? number : number + " on " + rank.host;
}

}  // namespace

AttemptLog::AttemptLog(const RunContext& run, const PlannedTest& test, int n, AttemptKind kind,
                       std::vector<RankState>& ranks, Clocks& clocks)
    : run_(run), test_(test), ranks_(ranks), clocks_(clocks), started_(clocks.now()) {
  record_.n = n;
  record_.kind = kind;
}

void AttemptLog::tell_start() {
  run_.events.on_attempt_start(
      {test_.id, record_.n, record_.kind, test_.variant.world_size, test_.variant.isolation == Isolation::Threads});
}

void AttemptLog::add_start(RankState& rank, int pid) {
  rank.started = true;
  rank.record.pid = pid;
  rank.record.started = age();
  run_.events.on_rank_start(test_.id, record_.n, rank.record);
}

void AttemptLog::enter_phase(RankState& rank, wire::Phase phase) {
  if (!rank.decided()) rank.record.phase = phase;  // the report needs the phase in which it went wrong
  note_body(rank.record, phase, age());
  if (phase != wire::Phase::Spawn) run_.events.on_rank_phase(test_.id, record_.n, rank.record.rank, phase);
  clocks_.begin_phase(rank, phase);
}

void AttemptLog::add_error(int rank, RankError error) {
  RankState& state = at(rank);
  error.at = age();
  if (!state.first_error_in) state.first_error_in = state.record.phase;
  run_.events.on_rank_error(test_.id, record_.n, rank, error);
  if (state.record.errors.size() < kErrorsMax || error.ended_body) state.record.errors.push_back(std::move(error));
}

RankError* AttemptLog::find_error(int rank, std::size_t index) {
  std::vector<RankError>& errors = at(rank).record.errors;
  return index < errors.size() ? &errors[index] : nullptr;
}

void AttemptLog::add_note(int rank, wire::KeyValue note) {
  RankState& state = at(rank);
  std::vector<wire::KeyValue>& notes = state.record.notes;
  if (notes.size() >= kNotesMax || !has_room(state, note.key.size() + note.value.size())) return;
  notes.push_back(std::move(note));
}

void AttemptLog::add_measure(int rank, wire::Measure measure) {
  RankState& state = at(rank);
  std::vector<wire::Measure>& measures = state.record.measures;
  if (measures.size() >= kMeasuresMax || !std::isfinite(measure.value)) return;
  if (has_room(state, measure.name.size() + measure.unit.size())) measures.push_back(std::move(measure));
}

// A change that a test has made to its process, or what it left running, is a note, and a leak only in strict runs: a
// process that is kept is restored first, and gets no further test while something runs.
void AttemptLog::add_leak(int rank, const wire::LeakReport& leak) {
  if (leak.state && !run_.settings.leaks_strict) {
    return add_note(rank, {leak.thread ? "left running" : "left changed", leak.what});
  }
  if (record_.leaks.size() >= kLeaksMax) return;
  const LeakKind kind = leak.thread ? LeakKind::Thread : leak.state ? LeakKind::State : LeakKind::Descriptor;
  record_.leaks.push_back({kind, "of " + label_of(at(rank).record) + ": " + leak.what, true});
}

// Keeps up to kSnapshotsMax snapshots; kinds that occur once per attempt are always kept.
void AttemptLog::add_snapshot(Snapshot snapshot) {
  run_.events.on_snapshot(test_.id, record_.n, snapshot);
  const bool is_of_hang = snapshot.kind == SnapshotKind::Timeout || snapshot.kind == SnapshotKind::Deadlock;
  if (is_of_hang) note_waits(snapshot);
  const bool is_only_one = is_of_hang || snapshot.kind == SnapshotKind::Exception;
  if (record_.snapshots.size() < kSnapshotsMax || is_only_one) record_.snapshots.push_back(std::move(snapshot));
}

void AttemptLog::tell_suspicion(const HangCause& cause) {
  Snapshot snapshot;
  snapshot.kind = SnapshotKind::Suspect;
  snapshot.at = age();
  snapshot.at_ns = monotonic_ns(clocks_.now());
  snapshot.hosts = cause.hosts;
  snapshot.text.emplace_back().add(evidence::Tone::Plain,
                                   cause.is_deadlock() ? verdict_text(cause) : observation_text(cause));
  run_.events.on_snapshot(test_.id, record_.n, snapshot);
}

// Takes waits from the board. For barriers and messages between ranks, `waiting_in` is set already.
void AttemptLog::note_waits(const Snapshot& snapshot) {
  for (const RankView& view : snapshot.ranks) {
    RankRecord& rank = at(view.rank).record;
    const board::ShownWait* const wait = view.shown ? board::main_wait(*view.shown) : nullptr;
    const bool is_late = rank.outcome.kind == OutcomeKind::TimedOut || snapshot.kind == SnapshotKind::Deadlock;
    if (is_late && wait != nullptr && rank.waiting_in.empty()) rank.waiting_in = name_of_wait(*wait);
  }
}

void AttemptLog::tell_end(const RankState& rank) { run_.events.on_rank_end(test_.id, record_.n, rank.record); }

}  // namespace distrun::runner
