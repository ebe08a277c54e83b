#pragma once
// Fetches what the ranks of a world have recorded (common/trace) from their nodes: from each node one part after the
// other, so that a link carries a part at a time, and other frames do not wait behind more; from all nodes side by
// side.
//
// The first request to a node asks for nothing: its answer says how the clocks differ, as those to all further ones do,
// so that times are converted well even right after a link was made. Lives on: the coordinator's loop.
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <distrun/common/io/loop.hpp>
#include <distrun/common/trace/reader.hpp>
#include <distrun/runner/nodes/clock_line.hpp>
#include <distrun/runner/nodes/trace_messages.hpp>

namespace distrun::nodes {

class RemoteNode;

class TraceFetch {
 public:
  // The ranks of a node: `count` from `first` on.
  struct Source {
    RemoteNode* node = nullptr;
    int first = 0;
    int count = 0;
    std::string why_not;             // why there are no traces; empty: there are
    std::optional<ClockMark> begin;  // when the test began
  };
  using OnTraces = std::function<void(std::vector<trace::RankTrace>)>;

  // `number` counts the fetches of the world from 1, and `records` is the most that a rank may have recorded. The
  // sources are in the order of their ranks; their nodes must outlive this. `on_traces` is called once, and may be
  // called in any of the other functions.
  TraceFetch(io::Loop& loop, std::uint32_t world, std::uint32_t number, std::uint64_t records,
             std::vector<Source> sources, OnTraces on_traces);

  void begin();
  // Takes the answer of a node, or ignores one to an earlier fetch. Throws Error{InvalidArgument} for one that was not
  // asked for, or cannot be.
  void take(int node, TracePart part);
  // The node sends no more.
  void lose(int node, const std::string& why);

 private:
  struct Progress {
    Source source;
    bool is_over = false;
    TraceRequest asked{};
    std::int64_t asked_ns = 0;  // when that was sent
    ClockOffset clock;          // of the node, ahead of this machine's
  };
  Progress* find(int node);
  void ask(Progress& progress, int rank, std::uint64_t first, std::uint32_t count);
  void go_on(Progress& progress, std::uint64_t written);
  void miss(Progress& progress, const std::string& why);
  void convert(Progress& progress);
  void check_all_over();
  trace::RankTrace& trace_of(int rank) { return traces_.at(static_cast<std::size_t>(rank)); }

  io::Loop& loop_;
  const std::uint32_t world_;
  const std::uint32_t number_;
  const std::uint64_t records_;
  std::vector<Progress> progresses_;
  std::vector<trace::RankTrace> traces_;
  OnTraces on_traces_;
};

}  // namespace distrun::nodes
