#pragma once
// What belongs together across ranks: a call, the handler that runs it, and the answer that comes back. Both sides know
// the number that the caller has given the call, and of each other.
#include <vector>

#include <distrun/runner/report/trace/rank_tracks.hpp>

namespace distrun::report {

// A moment within a slice.
struct FlowStop {
  const RankTracks* rank = nullptr;
  const Track* track = nullptr;
  const TraceSlice* slice = nullptr;
};

// From stop to stop; two at least.
using Flow = std::vector<FlowStop>;

// Good as long as `ranks` stay where they are.
std::vector<Flow> flows_of(const std::vector<RankTracks>& ranks);

}  // namespace distrun::report
