#include <distrun/runner/report/trace/rank_tracks.hpp>

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include <distrun/common/base/text.hpp>
#include <distrun/common/board/describe.hpp>
#include <distrun/runner/record/describe.hpp>

namespace distrun::report {
namespace {

// Above all thread numbers of the kernel.
constexpr std::int64_t kPhasesTrack = 4'194'305;
constexpr std::int64_t kFirstStreamTrack = kPhasesTrack + 1;
constexpr std::int64_t kFirstTrackBeside = 5'000'000;

constexpr int kTracksBesideMax = 8;  // per track; the last one takes the rest

// An open wait that began within this interval of a recorded one is the same wait: the board's clock is coarse.
constexpr Nanoseconds kSameWait = std::chrono::milliseconds(20);

// Converts a time reported by a rank, which may be any value.
Nanoseconds since(const runner::TracedAttempt& traced, std::int64_t at_ns) {
  return Nanoseconds(std::max<std::int64_t>(at_ns, 0)) - traced.began.time_since_epoch();
}

std::string place_of(const std::string& file, std::uint32_t line) {
  board::ShownWait wait;
  wait.file = file;
  wait.line = line;
  return board::site_of(wait);
}

board::ShownWait wait_of(const trace::Slice& slice) {
  board::ShownWait wait;
  wait.kind = board::wait_kind(slice.detail);
  wait.name = slice.name;
  wait.id = slice.id;
  wait.tid = slice.tid;
  wait.since_ns = slice.begin_ns;
  wait.file = slice.place;
  wait.line = slice.line;
  wait.rule = slice.rule == trace::Peers::Any ? board::PeerRule::Any : board::PeerRule::All;
  if (slice.rule == trace::Peers::None) wait.rule = board::PeerRule::None;
  if (slice.rule == trace::Peers::One) {
    if (slice.peers < board::kPeersMax) wait.peers.push_back(static_cast<int>(slice.peers));
    return wait;
  }
  for (int rank = 0; rank < trace::kPeerBits; ++rank) {
    if ((slice.peers >> rank & 1) != 0) wait.peers.push_back(rank);
  }
  return wait;
}

bool is_wait(trace::Kind kind) { return kind == trace::Kind::Wait || kind == trace::Kind::Handler; }

const char* category_of(trace::Kind kind) {
  constexpr std::array<const char*, trace::kKindCount> kCategories = {
      "span", "operator", "wait", "handler", "call", "reply", "collective", "stream", ""};
  return kCategories[static_cast<std::size_t>(kind)];
}

// Drops the id, so that slices of the same operation share a name.
std::string name_of(board::ShownWait wait) {
  wait.id = 0;
  const std::string text = board::describe(wait);
  return wait.kind == board::WaitKind::Handler ? text : "waits in " + text;
}

std::string name_of(const trace::Slice& slice) {
  const std::string name = base::one_line(slice.name);
  const std::string peer = slice.rule == trace::Peers::One ? " rank " + std::to_string(slice.peers) : "";
  switch (slice.kind) {
    case trace::Kind::Wait:
    case trace::Kind::Handler: return name_of(wait_of(slice));
    case trace::Kind::Call: return "calls \"" + name + "\"" + (peer.empty() ? "" : " of" + peer);
    case trace::Kind::Reply: return "reply of \"" + name + "\"" + (peer.empty() ? "" : " from" + peer);
    default: return name.empty() ? "?" : name;
  }
}

TraceSlice shown(const trace::Slice& slice, const runner::TracedAttempt& traced) {
  TraceSlice shown;
  shown.name = name_of(slice);
  shown.category = category_of(slice.kind);
  shown.begin = since(traced, slice.begin_ns);
  shown.end = since(traced, slice.end_ns);
  shown.is_open = slice.end_ns == 0;
  if (slice.kind != trace::Kind::StreamWork) shown.place = place_of(slice.place, slice.line);
  shown.id = slice.id;
  shown.kind = slice.kind;
  shown.detail = slice.detail;
  if (slice.rule == trace::Peers::One && slice.peers < board::kPeersMax) shown.peer = static_cast<int>(slice.peers);
  return shown;
}

TraceSlice shown(const board::ShownWait& wait, const runner::TracedAttempt& traced) {
  TraceSlice shown;
  shown.name = name_of(wait);
  shown.kind = wait.kind == board::WaitKind::Handler ? trace::Kind::Handler : trace::Kind::Wait;
  shown.category = category_of(shown.kind);
  shown.begin = since(traced, wait.since_ns);
  shown.is_open = true;
  shown.place = board::site_of(wait);
  shown.id = wait.id;
  shown.detail = static_cast<int>(wait.kind);
  if (wait.peers.size() == 1) shown.peer = wait.peers.front();
  return shown;
}

// Returns whether the rank waits for another test: then its open wait is for that test.
bool stays(const runner::RankRecord& rank) {
  const bool is_fine =
      rank.outcome.kind == runner::OutcomeKind::Passed || rank.outcome.kind == runner::OutcomeKind::Skipped;
  return is_fine && rank.exit_code < 0 && rank.signal == 0;
}

// Removes from a sorted track each slice that begins within another and ends after it, since tracks can show only
// nested slices. Spans that end on another thread than they began on cause such overlaps.
std::vector<TraceSlice> take_overlapping(std::vector<TraceSlice>& slices) {
  std::vector<TraceSlice> fitting;
  std::vector<TraceSlice> others;
  std::vector<Nanoseconds> around;  // ends of the open slices
  for (TraceSlice& slice : slices) {
    while (!around.empty() && around.back() <= slice.begin) around.pop_back();
    if (!around.empty() && slice.end > around.back()) {
      others.push_back(std::move(slice));
    } else {
      around.push_back(slice.end);
      fitting.push_back(std::move(slice));
    }
  }
  slices = std::move(fitting);
  return others;
}

// Builds the tracks of one rank.
class Maker {
 public:
  Maker(const runner::TracedAttempt& traced, const runner::RankRecord& rank) : traced_(traced), rank_(rank) {
    made_.rank = rank.rank;
    made_.process = rank.pid;
    made_.ended = std::max(rank.ended, rank.started);
    if (made_.ended.count() == 0) made_.ended = traced.ended - traced.began;
  }

  RankTracks make(const runner::RankView* view) {
    const trace::RankTrace& trace = traced_.traces[static_cast<std::size_t>(rank_.rank)];
    const trace::ShownArea& area = trace.area;
    made_.host = rank_.host;
    made_.why_missing = trace.why_missing;
    made_.clock_error = trace.clock_error;
    made_.not_kept = area.not_kept;
    if (rank_.outcome.kind != runner::OutcomeKind::Passed) made_.outcome = runner::describe_outcome(rank_);
    add_phases();
    for (const trace::Slice& slice : area.slices) add(slice, area);
    if (view != nullptr && view->shown && !stays(rank_)) add_open_waits(*view->shown, area);
    for (auto& [number, track] : tracks_) {
      finish(track);
      if (!track.slices.empty()) add_made(std::move(track));
    }
    return std::move(made_);
  }

 private:
  void add_phases() {
    Track& track = track_at(kPhasesTrack, "phases");
    const bool had_body = rank_.body_began.count() > 0;
    const Nanoseconds body_end = rank_.body_ended.count() > 0 ? rank_.body_ended : made_.ended;
    add_phase(track, "begins", rank_.started, had_body ? rank_.body_began : made_.ended, false);
    if (had_body) add_phase(track, "body", rank_.body_began, body_end, rank_.body_ended.count() == 0);
    if (had_body && rank_.body_ended.count() > 0) add_phase(track, "ends", rank_.body_ended, made_.ended, false);
  }

  static void add_phase(Track& track, const char* name, Nanoseconds begin, Nanoseconds end, bool is_open) {
    TraceSlice slice;
    slice.name = name;
    slice.category = "phase";
    slice.begin = begin;
    slice.end = end;
    slice.is_open = is_open;
    track.slices.push_back(std::move(slice));
  }

  void add(const trace::Slice& slice, const trace::ShownArea& area) {
    if (slice.kind == trace::Kind::StreamWork) {
      const auto [known, is_new] =
          streams_.emplace(slice.place, kFirstStreamTrack + static_cast<std::int64_t>(streams_.size()));
      return track_at(known->second, slice.place).slices.push_back(shown(slice, traced_));
    }
    thread_track(slice.tid, area).slices.push_back(shown(slice, traced_));
  }

  // Adds the open waits that no recorded slice shows because newer slices have replaced it.
  void add_open_waits(const board::Shown& seen, const trace::ShownArea& area) {
    for (const board::ShownWait& wait : seen.waits) {
      const auto is_same = [&](const trace::Slice& slice) {
        return slice.end_ns == 0 && is_wait(slice.kind) && slice.tid == wait.tid && slice.id == wait.id &&
               slice.detail == static_cast<int>(wait.kind) &&
               std::chrono::abs(since(traced_, slice.begin_ns) - since(traced_, wait.since_ns)) < kSameWait;
      };
      if (std::any_of(area.slices.begin(), area.slices.end(), is_same)) continue;
      thread_track(wait.tid, area).slices.push_back(shown(wait, traced_));
    }
  }

  Track& thread_track(int tid, const trace::ShownArea& area) {
    const auto known = area.threads.find(tid);
    if (tid == rank_.pid) return track_at(tid, "main");
    return track_at(tid, known != area.threads.end() ? base::one_line(known->second) : "thread");
  }

  Track& track_at(std::int64_t number, const std::string& name) {
    Track& track = tracks_[number];
    track.number = number;
    if (track.name.empty()) track.name = base::one_line(name);
    return track;
  }

  // Clamps slices to the attempt; an open slice ends with its rank.
  void finish(Track& track) {
    const Nanoseconds limit = traced_.ended - traced_.began;
    for (TraceSlice& slice : track.slices) {
      slice.begin = std::clamp(slice.begin, Nanoseconds(0), limit);
      slice.end = std::clamp(slice.is_open ? made_.ended : slice.end, slice.begin, limit);
    }
    std::stable_sort(track.slices.begin(), track.slices.end(), [](const TraceSlice& a, const TraceSlice& b) {
      return a.begin != b.begin ? a.begin < b.begin : a.end > b.end;
    });
  }

  void add_made(Track track) {
    for (int i = 0; i < kTracksBesideMax; ++i) {
      Track beside;
      beside.slices = take_overlapping(track.slices);
      beside.name = i == 0 ? track.name + " (beside)" : track.name;
      made_.tracks.push_back(std::move(track));
      if (beside.slices.empty()) return;
      beside.number = next_beside_++;
      track = std::move(beside);
    }
    made_.tracks.push_back(std::move(track));
  }

  const runner::TracedAttempt& traced_;
  const runner::RankRecord& rank_;
  std::int64_t next_beside_ = kFirstTrackBeside;
  std::map<std::int64_t, Track> tracks_;
  std::map<std::string, std::int64_t> streams_;
  RankTracks made_;
};

// Ranks that are threads share a process id; a viewer would merge them.
void tell_apart(std::vector<RankTracks>& all) {
  std::set<std::int64_t> pids;
  for (const RankTracks& each : all) pids.insert(each.process);
  if (pids.size() == all.size() && !pids.contains(0)) return;
  for (RankTracks& each : all) each.process = each.rank + 1;
}

}  // namespace

std::vector<RankTracks> rank_tracks(const runner::TracedAttempt& traced) {
  std::vector<RankTracks> all;
  for (const runner::RankRecord& rank : traced.attempt.ranks) {
    if (rank.rank < 0 || rank.rank >= static_cast<int>(traced.traces.size())) continue;
    const auto view = std::find_if(traced.views.begin(), traced.views.end(),
                                   [&](const runner::RankView& each) { return each.rank == rank.rank; });
    all.push_back(Maker(traced, rank).make(view == traced.views.end() ? nullptr : &*view));
  }
  tell_apart(all);
  return all;
}

}  // namespace distrun::report
