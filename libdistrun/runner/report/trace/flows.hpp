#pragma once
// Matches events across ranks: a call, the handler that runs it, and the reply. Both sides know the number that the
// caller has given the call, and each other's rank.
#include <vector>

#include <distrun/runner/report/trace/rank_tracks.hpp>

namespace distrun::report {

// A moment within a slice.
struct FlowStop {
  const RankTracks* rank = nullptr;
  const Track* track = nullptr;
  const TraceSlice* slice = nullptr;
};

// The stops in order, two at least.
using Flow = std::vector<FlowStop>;

// Valid as long as `ranks` are not moved.
std::vector<Flow> flows_of(const std::vector<RankTracks>& ranks);

}  // namespace distrun::report
