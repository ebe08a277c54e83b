#pragma once
// The activity of one rank for a trace: tracks of slices, with times since the attempt began. Data from ranks is
// untrusted: times are clamped to the attempt's, and every slice has an end.
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
  // The next fields serve to match related slices.
  trace::Kind kind = trace::Kind::Span;
  int detail = 0;
  int peer = -1;  // the only peer; -1: none or several
};

// A thread, a stream, or the phases of the rank.
struct Track {
  std::int64_t number = 0;  // the kernel's number of a thread; others have numbers beyond these
  std::string name;
  std::vector<TraceSlice> slices;  // sorted by start, enclosing slices first
};

struct RankTracks {
  int rank = 0;
  std::int64_t process = 0;  // unique among the attempt's ranks: the rank's pid if it has a separate process
  std::vector<Track> tracks;
  Nanoseconds ended{};
  std::string outcome;      // empty: the rank passed
  std::string host;         // empty: it ran on this machine
  std::string why_missing;  // why there are phases only; empty: there is more
  Nanoseconds clock_error{};
  std::uint64_t not_kept = 0;
};

// Returns the tracks of all ranks of an attempt.
std::vector<RankTracks> rank_tracks(const runner::TracedAttempt& traced);

}  // namespace distrun::report
