#include <catch2/catch.hpp>

#include <functional>
#include <string>
#include <vector>

#include <distrun/runner/mpi/waits.hpp>
#include <distrun/runner/record/snapshot.hpp>

namespace {

using namespace distrun;
using Ranks = std::vector<int>;

bool none_has_left(int) { return false; }

// A snapshot of ranks that are in these calls; empty: in none.
runner::Snapshot snapshot_of(const std::vector<std::string>& calls) {
  runner::Snapshot snapshot;
  for (std::size_t i = 0; i < calls.size(); ++i) {
    const int rank = static_cast<int>(i);
    const int pid = 100 + rank;
    board::Shown shown;
    shown.pid = shown.body_tid = pid;
    snapshot.ranks.push_back({rank, shown});
    evidence::Process process;
    process.rank = rank;
    process.pid = pid;
    wire::ThreadStack& thread = process.threads.emplace_back();
    thread.frames = {static_cast<std::uint32_t>(i)};
    snapshot.stacks.table.emplace_back().function = calls[i].empty() ? "work" : calls[i];
    snapshot.stacks.processes.push_back(process);
  }
  return snapshot;
}

Ranks awaited_by(const runner::Snapshot& snapshot, int rank) {
  const board::Shown& shown = *snapshot.ranks.at(static_cast<std::size_t>(rank)).shown;
  return shown.waits.empty() ? Ranks{} : runner::awaited(snapshot.ranks, rank, shown.waits.front());
}

}  // namespace

TEST_CASE("ranks in a collective wait for the ones that are not in it") {
  runner::Snapshot snapshot = snapshot_of({"PMPI_Barrier", "PMPI_Barrier", "", "MPI_Barrier"});
  mpi::add_calls(4, none_has_left, snapshot);
  CHECK(awaited_by(snapshot, 0) == Ranks{2});
  CHECK(awaited_by(snapshot, 3) == Ranks{2});
  CHECK(snapshot.ranks[2].shown->waits.empty());
}

TEST_CASE("the collective of a few ranks may be of a smaller communicator, and is not told") {
  runner::Snapshot snapshot = snapshot_of({"MPI_Bcast", "MPI_Bcast", "", ""});
  mpi::add_calls(4, none_has_left, snapshot);
  for (const runner::RankView& view : snapshot.ranks) CHECK(view.shown->waits.empty());
}

TEST_CASE("MPI_Finalize is of all ranks that have not left it") {
  runner::Snapshot snapshot = snapshot_of({"MPI_Finalize", "", "", ""});
  mpi::add_calls(
      4, [](int rank) { return rank == 3; }, snapshot);
  CHECK(awaited_by(snapshot, 0) == Ranks{1, 2});
}

TEST_CASE("ranks in different collectives wait for each other") {
  runner::Snapshot snapshot = snapshot_of({"MPI_Bcast", "MPI_Barrier", "MPI_Barrier"});
  mpi::add_calls(3, none_has_left, snapshot);
  CHECK(awaited_by(snapshot, 0) == Ranks{1, 2});
  CHECK(awaited_by(snapshot, 1) == Ranks{0});
}

TEST_CASE("a wait that a rank shows stays as it is, and a rank that shows nothing stays unknown") {
  runner::Snapshot snapshot = snapshot_of({"MPI_Barrier", "MPI_Barrier"});
  snapshot.ranks[0].shown->waits.emplace_back().name = "MPI_Init";
  snapshot.ranks[1].shown.reset();
  mpi::add_calls(2, none_has_left, snapshot);
  REQUIRE(snapshot.ranks[0].shown->waits.size() == 1);
  CHECK(snapshot.ranks[0].shown->waits[0].name == "MPI_Init");
  CHECK_FALSE(snapshot.ranks[1].shown);
}
