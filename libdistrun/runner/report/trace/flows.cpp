#include <distrun/runner/report/trace/flows.hpp>

#include <algorithm>
#include <map>
#include <tuple>

namespace distrun::report {
namespace {

// Caller, callee, number. A rank that begins another session counts from 1 again, so several calls may share a key.
using Key = std::tuple<int, int, std::uint64_t>;

struct Parts {
  std::vector<FlowStop> calls;
  std::vector<FlowStop> handlers;
  std::vector<FlowStop> replies;
};

void collect(const RankTracks& rank, const Track& track, std::map<Key, Parts>& all) {
  for (const TraceSlice& slice : track.slices) {
    if (slice.peer < 0 || slice.id == 0) continue;
    const FlowStop stop{&rank, &track, &slice};
    switch (slice.kind) {
      case trace::Kind::Call: all[{rank.rank, slice.peer, slice.id}].calls.push_back(stop); break;
      case trace::Kind::Reply: all[{rank.rank, slice.peer, slice.id}].replies.push_back(stop); break;
      case trace::Kind::Handler: all[{slice.peer, rank.rank, slice.id}].handlers.push_back(stop); break;
      default: break;
    }
  }
}

void sort(std::vector<FlowStop>& stops) {
  std::stable_sort(stops.begin(), stops.end(),
                   [](const FlowStop& a, const FlowStop& b) { return a.slice->begin < b.slice->begin; });
}

// Returns the first stop that begins within the interval; null: none.
const FlowStop* first_in(const std::vector<FlowStop>& stops, Nanoseconds from, Nanoseconds to) {
  const auto found =
      std::find_if(stops.begin(), stops.end(), [&](const FlowStop& each) { return each.slice->begin >= from; });
  return found != stops.end() && found->slice->begin < to ? &*found : nullptr;
}

void connect(Parts& parts, std::vector<Flow>& flows) {
  for (std::vector<FlowStop>* each : {&parts.calls, &parts.handlers, &parts.replies}) sort(*each);
  for (std::size_t i = 0; i < parts.calls.size(); ++i) {
    const Nanoseconds from = parts.calls[i].slice->begin;
    const Nanoseconds to = i + 1 < parts.calls.size() ? parts.calls[i + 1].slice->begin : Nanoseconds::max();
    Flow flow{parts.calls[i]};
    for (const std::vector<FlowStop>* each : {&parts.handlers, &parts.replies}) {
      if (const FlowStop* const stop = first_in(*each, from, to)) flow.push_back(*stop);
    }
    if (flow.size() > 1) flows.push_back(std::move(flow));
  }
}

}  // namespace

std::vector<Flow> flows_of(const std::vector<RankTracks>& ranks) {
  std::map<Key, Parts> all;
  for (const RankTracks& rank : ranks) {
    for (const Track& track : rank.tracks) collect(rank, track, all);
  }
  std::vector<Flow> flows;
  for (auto& [key, parts] : all) connect(parts, flows);
  return flows;
}

}  // namespace distrun::report
