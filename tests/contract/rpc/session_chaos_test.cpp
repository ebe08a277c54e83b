// The table of sessions (session_table.hpp), cell by cell.
#include <catch2/catch.hpp>

#include <algorithm>
#include <map>

#include "session_cell.hpp"
#include "support/sandbox.hpp"
#include "support/scratch.hpp"

namespace distrun::rpc::testing {
namespace {

using namespace std::chrono_literals;

constexpr int kAtOnceCells = 5;

void check_phase(const Lines& lines, int rank, int victim, const std::string& name, const Phase& phase) {
  const std::string prefix = std::to_string(rank) + "|" + name + "|";
  const auto found =
      std::find_if(lines.begin(), lines.end(), [&](const std::string& each) { return each.starts_with(prefix); });
  if (phase.ends == Ends::NotReached) return;
  INFO("rank " << rank << " in " << name);
  REQUIRE(found != lines.end());
  const Timed came = timed_of(found->substr(2));
  CAPTURE(came.text);
  CHECK((came.text == "done") == (phase.ends == Ends::Well));
  if (phase.ends == Ends::Named) CHECK(names(came.text, victim));
  const auto bound = std::chrono::duration<double>(phase.bound + distrun::testing::scaled(1000ms));
  if (name != "init" || phase.ends == Ends::Named) CHECK(came.seconds < bound.count());
}

void check_cell(const SessionCell& cell, const Lines& lines) {
  std::string all;
  for (const std::string& each : lines) all += "\n  " + each;
  INFO("all lines:" << all);
  for (int rank = 0; rank < kRanks; ++rank) {
    if (rank == cell.victim) continue;
    check_phase(lines, rank, cell.victim, "init", cell.row.init);
    check_phase(lines, rank, cell.victim, "call", cell.row.call);
    const bool has_called = cell.row.call.ends != Ends::NotReached;
    check_phase(lines, rank, cell.victim, "other", has_called ? kWell : kNot);
    check_phase(lines, rank, cell.victim, "shutdown", cell.row.shutdown);
  }
}

// Runs all cells of some faults concurrently; then each is checked in a separate section.
struct Cells {
  explicit Cells(const std::vector<Fault>& faults) {
    std::vector<std::function<Lines()>> runs;
    for (const Row& row : session_table()) {
      if (std::find(faults.begin(), faults.end(), row.fault) == faults.end()) continue;
      for (const int victim : {0, 2}) {
        if (row.why_not[0] != '\0') continue;
        cells.push_back({row, victim, scratch.directory(std::to_string(cells.size()))});
      }
    }
    for (const SessionCell& each : cells) runs.emplace_back([&each] { return each.conduct(); });
    told = conduct(runs, kAtOnceCells);
  }
  distrun::testing::Scratch scratch;
  std::vector<SessionCell> cells;
  std::vector<Lines> told;
};

void check_all(const Cells& all) {
  for (std::size_t i = 0; i < all.cells.size(); ++i) {
    DYNAMIC_SECTION(sentence(all.cells[i].row, all.cells[i].victim)) { check_cell(all.cells[i], all.told[i]); }
  }
}

}  // namespace

TEST_CASE("the others are notified of a rank that is killed, or exits, by name") {
  static const Cells all({Fault::Dies, Fault::Exits});
  check_all(all);
}
TEST_CASE("the others time out on a stopped rank, by name") {
  static const Cells all({Fault::Stops});
  check_all(all);
}
TEST_CASE("a graceful shutdown names a rank that has left without a graceful one") {
  static const Cells all({Fault::Leaves});
  check_all(all);
}
TEST_CASE("a rank that never starts, or is an impostor, is named by all others") {
  static const Cells all({Fault::NeverStarts, Fault::NobodyAtAddress, Fault::NoAddress, Fault::LargerWorldFirst,
                          Fault::LargerWorldLast, Fault::SameName, Fault::SameRank});
  check_all(all);
}

TEST_CASE("a missing cell has its reason in the table, and no other cell is there twice") {
  std::map<std::pair<Fault, Moment>, int> seen;
  for (const Row& row : session_table()) {
    CHECK(++seen[{row.fault, row.moment}] == 1);
    const bool is_there = row.init.ends != Ends::NotReached;
    CHECK(is_there == (row.why_not[0] == '\0'));
  }
}

}  // namespace distrun::rpc::testing
