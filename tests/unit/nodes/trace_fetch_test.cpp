// How a coordinator fetches the traces of a world's ranks from two nodes, which a test plays.
#include <catch2/catch.hpp>

#include <optional>
#include <string>
#include <vector>

#include <distrun/common/base/error.hpp>

#include "two_nodes.hpp"

namespace distrun::nodes {
namespace {

using Kind = wire::NodeFrame;
using std::chrono::microseconds;
using Traces = std::vector<trace::RankTrace>;

constexpr std::uint64_t kRecords = 4096;

trace::Slice slice_of(const std::string& name, std::int64_t begin_ns, std::int64_t end_ns) {
  trace::Slice slice;
  slice.name = name;
  slice.tid = 7;
  slice.begin_ns = begin_ns;
  slice.end_ns = end_ns;
  return slice;
}

// A fetch from both nodes, which keep `written` records of each rank.
class Fetch {
 public:
  explicit Fetch(const std::optional<Offset>& offset = Offset{}) {
    two.offset = offset;
    launch::WorldSpec spec;
    spec.world_size = 4;
    spec.trace_records = kRecords;
    two.world->begin(spec);
    for (const int node : {0, 1}) two.answer(node, Kind::Spawned, Spawned{1});
    begin();
  }
  void begin() {
    traces.reset();
    two.world->read_traces([this](Traces got) { traces = std::move(got); });
  }
  // Returns the request that a node has to answer.
  TraceRequest asked(int node) {
    const auto requests = two.all_told<TraceRequest>(node, Kind::ReadTrace);
    REQUIRE(requests.size() == 1);
    return requests.front();
  }
  static TracePart part_for(const TraceRequest& request, std::uint64_t written) {
    TracePart part;
    part.world = request.world;
    part.fetch = request.fetch;
    part.rank = request.rank;
    part.first = request.first;
    part.written = written;
    return part;
  }
  // Answers all requests of a node with a slice for each request that asks for any.
  void answer_all(int node, std::uint64_t written = 1) {
    for (const int rank : {2 * node, 2 * node + 1}) {
      for (std::uint64_t next = 0; next < written || rank == 2 * node;) {
        const TraceRequest request = asked(node);
        CHECK(request.rank == rank);
        CHECK(request.first == next);
        TracePart part = part_for(request, written);
        if (request.count > 0) part.slices.push_back(slice_of("of " + std::to_string(rank), 100'000, 200'000));
        two.answer(node, Kind::TracePart, part);
        next += request.count;
        if (next >= written) break;
      }
    }
  }

  TwoNodes two;
  std::optional<Traces> traces;
};

}  // namespace

TEST_CASE("the traces of all ranks come from their nodes, part by part, with times of this machine") {
  Fetch fetch(Offset{microseconds(-40), base::Nanoseconds(0)});
  for (const int node : {0, 1}) CHECK(fetch.two.told<SpawnRequest>(node, Kind::Spawn).test.trace_records == kRecords);
  fetch.answer_all(1, 2 * kTracePartMax + 1);
  CHECK_FALSE(fetch.traces);
  fetch.answer_all(0, 1);
  REQUIRE(fetch.traces);
  REQUIRE(fetch.traces->size() == 4);
  for (int rank = 0; rank < 4; ++rank) {
    const trace::RankTrace& trace = fetch.traces->at(static_cast<std::size_t>(rank));
    CHECK(trace.why_missing.empty());
    CHECK(trace.area.slices.size() == (rank < 2 ? 1 : 3));
    CHECK(trace.area.slices.front().name == "of " + std::to_string(rank));
    CHECK(trace.area.slices.front().begin_ns == 60'000);
    CHECK(trace.area.slices.front().end_ns == 160'000);
  }
}

TEST_CASE("a fetch needs no ping to compare the clocks, and says how wrong its times may be") {
  Fetch fetch(std::nullopt);
  const std::int64_t ahead = std::chrono::nanoseconds(std::chrono::hours(3)).count();  // the node's clock
  for (const int node : {0, 1}) {
    for (int answers = 0; answers < 3; ++answers) {
      const TraceRequest request = fetch.asked(node);
      const std::int64_t now = fetch.two.loop.clock().now().time_since_epoch().count();
      TracePart part = Fetch::part_for(request, 1);
      part.received_ns = part.sent_ns = now + ahead;
      if (request.count > 0) part.slices.push_back(slice_of("now", now + ahead, 0));
      fetch.two.answer(node, Kind::TracePart, part);
    }
  }
  REQUIRE(fetch.traces);
  const std::int64_t now = fetch.two.loop.clock().now().time_since_epoch().count();
  for (const trace::RankTrace& trace : *fetch.traces) {
    REQUIRE(trace.area.slices.size() == 1);
    const std::int64_t error = trace.clock_error.count();
    CHECK(error > 0);
    CHECK(trace.area.slices[0].begin_ns <= now + error);
    CHECK(trace.area.slices[0].begin_ns >= now - std::chrono::nanoseconds(std::chrono::minutes(1)).count());
    CHECK(trace.area.slices[0].end_ns == 0);  // it is open
  }
}

TEST_CASE("the ranks of a host that is lost during the fetch, or before, have no traces") {
  Fetch fetch;
  const bool is_lost_before = GENERATE(false, true);
  if (is_lost_before) {
    fetch.two.nodes[1]->lose("its node ended");
    (void)fetch.asked(0);
    fetch.begin();
  }
  fetch.answer_all(0);
  if (!is_lost_before) fetch.two.nodes[1]->lose("its node ended");
  REQUIRE(fetch.traces);
  CHECK(fetch.traces->at(1).why_missing.empty());
  CHECK(fetch.traces->at(2).why_missing == "node01 was lost: its node ended");
  CHECK(fetch.traces->at(3).area.slices.empty());
  CHECK_FALSE(fetch.traces->at(3).is_failure);
}

TEST_CASE("a node that has no memory for traces says why, and the host is named") {
  Fetch fetch;
  fetch.answer_all(0);
  for (int rank = 2; rank < 4; ++rank) {
    TracePart part = Fetch::part_for(fetch.asked(1), 0);
    part.why_missing = "no memory";
    fetch.two.answer(1, Kind::TracePart, part);
  }
  REQUIRE(fetch.traces);
  CHECK(fetch.traces->at(3).why_missing == "no memory (on node01)");
  CHECK(fetch.traces->at(3).is_failure);
}

TEST_CASE("answers to an earlier fetch change nothing") {
  Fetch fetch;
  const TraceRequest early = fetch.asked(0);
  (void)fetch.asked(1);
  fetch.begin();
  fetch.two.answer(0, Kind::TracePart, Fetch::part_for(early, kRecords));
  CHECK_FALSE(fetch.traces);
  fetch.answer_all(0);
  fetch.answer_all(1);
  CHECK(fetch.traces);
}

TEST_CASE("a part of a trace that was not asked for, or cannot be, is refused") {
  Fetch fetch;
  fetch.two.answer(0, Kind::TracePart, Fetch::part_for(fetch.asked(0), kRecords));
  TracePart part = Fetch::part_for(fetch.asked(0), kRecords);
  part.slices.push_back(slice_of("good", 100, 200));
  part.threads.push_back({7, "main"});
  SECTION("another rank, or another place") {
    part.rank += GENERATE(-1, 1, 2);
    CHECK_THROWS_AS(fetch.two.answer(0, Kind::TracePart, part), Error);
  }
  SECTION("a fetch that has not begun") {
    ++part.fetch;
    CHECK_THROWS_AS(fetch.two.answer(0, Kind::TracePart, part), Error);
  }
  SECTION("more than there is") {
    part.written = GENERATE(kRecords + 1, ~std::uint64_t{0});
    CHECK_THROWS_AS(fetch.two.answer(0, Kind::TracePart, part), Error);
  }
  SECTION("more than was asked for") {
    part.slices.resize(kTracePartMax, part.slices.front());
    CHECK_THROWS_AS(fetch.two.answer(0, Kind::TracePart, part), Error);
  }
  SECTION("records that no rank writes") {
    trace::Slice& slice = part.slices.front();
    const int which = GENERATE(0, 1, 2, 3, 4, 5);
    if (which == 0) slice.kind = static_cast<trace::Kind>(trace::kKindCount);
    if (which == 1) slice.rule = static_cast<trace::Peers>(trace::kPeersCount);
    if (which == 2) slice.name.resize(trace::kTextSize + 1);
    if (which == 3) slice.end_ns = slice.begin_ns - 1;
    if (which == 4) slice.tid = 0;
    if (which == 5) slice.detail = -1;
    CHECK_THROWS_AS(fetch.two.answer(0, Kind::TracePart, part), Error);
  }
  SECTION("the name of a thread that is too long") {
    part.threads.front().name.resize(trace::kTextSize + 1);
    CHECK_THROWS_AS(fetch.two.answer(0, Kind::TracePart, part), Error);
  }
  SECTION("one that is good") { CHECK_NOTHROW(fetch.two.answer(0, Kind::TracePart, part)); }
}

}  // namespace distrun::nodes
