#pragma once
// What one rank did, as a trace shows it: tracks of slices, with times since the attempt began. Nothing that a rank has
// written makes more of it than it may: times are bounded by the attempt's, and every slice has an end.
#include <string>
#include <vector>

#include <distrun/common/trace/reader.hpp>
#include <distrun/runner/record/trace_sink.hpp>

namespace distrun::report {

using base::Nanoseconds;

struct TraceSlice {
  std::string name;      // "waits in barrier \"meet\" for rank 1"
  const char* category;  // "wait", "operator"
  Nanoseconds begin{};
  Nanoseconds end{};
  bool is_open = false;  // it had not ended when its rank did
  std::string place;     // "ring.cpp:41", or empty
  std::uint64_t id = 0;  // 0: none
  // For who looks for what belongs together.
  trace::Kind kind = trace::Kind::Span;
  int detail = 0;
  int peer = -1;  // the only one; -1: none, or several
};

// A thread, a stream, or the phases of the rank.
struct Track {
  std::int64_t number = 0;  // of a thread the kernel's, of others beyond all of these
  std::string name;
  std::vector<TraceSlice> slices;  // in order of their begin, those around others first
};

struct RankTracks {
  int rank = 0;
  std::int64_t process = 0;  // a number that no other rank of the attempt has: its pid, if that is its own
  std::vector<Track> tracks;
  Nanoseconds ended{};
  std::string outcome;  // what became of it; empty: it passed
  std::uint64_t not_kept = 0;
};

// Of all ranks of an attempt.
std::vector<RankTracks> rank_tracks(const runner::TracedAttempt& traced);

}  // namespace distrun::report
