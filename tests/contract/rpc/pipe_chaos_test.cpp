// The table of the pipe (pipe_table.hpp), cell by cell, over each transport.
#include <catch2/catch.hpp>

#include <algorithm>

#include <agents/pipe/transports/cma.hpp>

#include "pipe_cell.hpp"
#include "support/sandbox.hpp"
#include "support/scratch.hpp"

namespace distrun::rpc::testing {
namespace {

using namespace std::chrono_literals;

constexpr int kAtOnceCells = 4;
constexpr PeerFault kFaults[] = {PeerFault::Killed, PeerFault::Stopped, PeerFault::Closes, PeerFault::Cut,
                                 PeerFault::Junk};

Outcomes outcome_of(const std::string& text) {
  if (text == "done") return kValue;
  if (text.starts_with("disconnected: ")) return kLost;
  return text.starts_with("timeout: ") ? kLate : 0;
}

struct Cells {
  explicit Cells(const std::string& transport) {
    const bool has_cma = agents::pipe::cma_offer().why_not.empty();
    for (const PipeRow& row : pipe_table()) {
      if (!has_cma && (row.state == State::CmaTensor || row.state == State::CmaReply)) continue;
      for (const PeerFault fault : kFaults) {
        const Outcomes right = outcomes_of(row, fault, transport == "shm");
        if (right == 0) continue;
        cells.push_back({row.state, fault, transport, scratch.directory(std::to_string(cells.size()))});
        outcomes.push_back(right);
      }
    }
    std::vector<std::function<Lines()>> runs;
    for (const PipeCell& each : cells) runs.emplace_back([&each] { return each.conduct(); });
    told = conduct(runs, kAtOnceCells);
  }
  distrun::testing::Scratch scratch;
  std::vector<PipeCell> cells;
  std::vector<Outcomes> outcomes;
  std::vector<Lines> told;
};

Timed find(const Lines& lines, const std::string& phase) {
  for (const std::string& each : lines) {
    if (each.starts_with(phase + "|")) return timed_of(each);
  }
  return {};
}

// Checks the call that was struck, or one afterwards.
void check_call(const Timed& came, Outcomes right, base::Nanoseconds bound) {
  CAPTURE(came.phase, came.text, came.seconds);
  const Outcomes outcome = outcome_of(came.text);
  CHECK((outcome & right) != 0);
  if (outcome == kLost || outcome == kLate) {
    CHECK_THAT(came.text, Catch::Contains("worker1") || Catch::Contains("worker 1"));
  }
  const bool is_late = (right & kLate) != 0;
  CHECK(came.seconds <
        std::chrono::duration<double>((is_late ? kCallLimit : bound) + distrun::testing::at_latest(1000ms)).count());
}

void check_cell(const PipeCell& cell, Outcomes right, const Lines& lines) {
  std::string all;
  for (const std::string& each : lines) all += "\n  " + each;
  INFO("all lines:" << all);
  REQUIRE(find(lines, "open").phase != "");
  const bool is_survivable = cell.fault == PeerFault::Stopped && cell.state != State::LeaveSent;
  // A closing peer lingers to deliver what was sent before.
  const base::Nanoseconds bound = cell.fault == PeerFault::Closes ? 2s : is_survivable ? kPause : base::Nanoseconds();
  check_call(find(lines, "call"), right, bound);
  check_call(find(lines, "again"), is_survivable ? kValue : (right & kLate) != 0 ? kLost | kLate : kLost, bound);
  const Timed other = find(lines, "other");
  CHECK(other.text == "done");
  // Shorter than a call waits for a silent peer.
  CHECK(other.seconds < std::chrono::duration<double>(distrun::testing::at_latest(2000ms)).count());
  CHECK(find(lines, "peer").text == (cell.fault == PeerFault::Killed ? "killed by signal 9" : ""));
  CHECK(find(lines, "open").text == "no more than before");
}

void check_all(const Cells& all) {
  for (std::size_t i = 0; i < all.cells.size(); ++i) {
    const PipeCell& cell = all.cells[i];
    DYNAMIC_SECTION("the peer " << sentence(cell.fault) << " " << sentence(cell.state)) {
      check_cell(cell, all.outcomes[i], all.told[i]);
    }
  }
}

}  // namespace

TEST_CASE("over shared memory, calls end after any fault of a peer, and other calls continue", "[alone]") {
  static const Cells all("shm");
  check_all(all);
}
TEST_CASE("over Unix sockets, calls end after any fault of a peer, and other calls continue", "[alone]") {
  static const Cells all("uds");
  check_all(all);
}
TEST_CASE("over TCP, calls end after any fault of a peer, and other calls continue", "[alone]") {
  static const Cells all("tcp");
  check_all(all);
}

TEST_CASE("a missing cell of the pipe has its reason in the table") {
  for (const PipeRow& row : pipe_table()) {
    bool is_whole = true;
    for (const PeerFault fault : kFaults) is_whole &= outcomes_of(row, fault, false) != 0;
    CHECK(is_whole == (row.why_not[0] == '\0'));
  }
}

}  // namespace distrun::rpc::testing
