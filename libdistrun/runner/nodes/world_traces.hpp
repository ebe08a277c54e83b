#pragma once
// The traces of the tests that the ranks of a world run, one after the other: when each began by the clocks of the
// nodes, and the last fetch (trace_fetch.hpp). Lives on: the coordinator's loop.
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <distrun/runner/nodes/trace_fetch.hpp>

namespace distrun::nodes {

class WorldTraces {
 public:
  WorldTraces(io::Loop& loop, std::uint32_t world) : loop_(loop), world_(world) {}

  // A test begins. Each of its ranks may keep this number of records.
  void begin_test(std::uint64_t records, const std::vector<TraceFetch::Source>& sources);
  // Fetches the traces. Calls `on_traces` once, maybe before it returns, unless another fetch begins first.
  void read(std::vector<TraceFetch::Source> sources, TraceFetch::OnTraces on_traces);
  // As TraceFetch has them.
  void take(int node, TracePart part);
  void lose(int node, const std::string& why);

 private:
  io::Loop& loop_;
  const std::uint32_t world_;
  std::uint64_t records_ = 0;
  std::map<int, ClockMark> began_;  // by node
  std::uint32_t fetches_ = 0;
  std::shared_ptr<TraceFetch> fetch_;  // the last one; it may be replaced while it calls back
};

}  // namespace distrun::nodes
