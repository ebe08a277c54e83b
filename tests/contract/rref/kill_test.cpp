// Kills a rank, or stops it for a while, at a random step of its agent in a storm of references. Operations of the
// others end in time, successfully or with an error that names it; references between the others stay valid; the ledger
// names the lost rank; the session ends within its bound, and leaves nothing.
//
//   DISTRUN_KILL_CELLS=500    number of cells
//   DISTRUN_KILL_SEED=7       other random cells
//   DISTRUN_KILL_ONLY=13      only this cell
#include <catch2/catch.hpp>

#include <random>

#include <distrun/common/base/sanitizer.hpp>

#include "../rpc/session_table.hpp"
#include "../rpc/told_lines.hpp"
#include "kill_cell.hpp"
#include "support/environment.hpp"
#include "support/sandbox.hpp"
#include "support/scratch.hpp"

namespace distrun::rref::testing {
namespace {

using namespace std::chrono_literals;

constexpr unsigned long kCells = base::kSanitized ? 8 : 36;
constexpr unsigned long kSeed = 20'261;
constexpr int kAtOnceCells = 3;
constexpr int kStepsMax = 2500;  // approximate number of steps

using distrun::testing::number_of;

// Derives a cell from its number only, independent of the other cells.
KillCell random_cell(unsigned long seed, unsigned long number, std::string folder) {
  std::mt19937 random(static_cast<std::mt19937::result_type>(seed * 1'000'003 + number));
  const auto below = [&](int limit) { return static_cast<int>(random() % static_cast<unsigned>(limit)); };
  KillCell cell;
  cell.seed = seed * 1'000'003 + number;
  cell.victim = below(kKillRanks);
  cell.is_stopped = below(4) == 0;
  cell.is_graceful = below(2) == 0;
  cell.struck_at = below(kStepsMax);
  cell.folder = std::move(folder);
  return cell;
}

double bound_of(const KillCell& cell, const std::string& phase) {
  base::Nanoseconds bound = phase == "shutdown" && cell.is_graceful ? kKillShutdown : 0ns;
  // The limit of the call plus that of a nested one.
  if (cell.is_stopped && phase != "shutdown" && phase != "new") bound = 2 * kStoppedCall;
  return std::chrono::duration<double>(bound + distrun::testing::scaled(1500ms)).count();
}

// A stopped rank may only be known by a timeout.
bool is_told_well(const KillCell& cell, const rpc::testing::Timed& came) {
  if (came.text == "done") return true;
  if (came.phase == "new" || came.phase == "confirmed" || came.phase == "ledger" || came.phase == "open") return false;
  if (rpc::testing::names(came.text, cell.victim)) return true;
  return cell.is_stopped && came.text.find("ran for more than set timeout") != std::string::npos;
}

void check_cell(const KillCell& cell, const Lines& lines) {
  rpc::testing::check_told(lines, kKillRanks - 1, "open", [&](const rpc::testing::Timed& came) {
    CHECK(came.seconds < bound_of(cell, came.phase));
    CHECK(is_told_well(cell, came));
  });
}

}  // namespace

TEST_CASE("when a rank is killed in a storm of references, the others continue, and name it") {
  const unsigned long seed = number_of("DISTRUN_KILL_SEED", kSeed), count = number_of("DISTRUN_KILL_CELLS", kCells);
  const unsigned long only = number_of("DISTRUN_KILL_ONLY", ~0ul);
  const distrun::testing::Scratch scratch;
  std::vector<KillCell> cells;
  std::vector<unsigned long> numbers;
  for (unsigned long number = 0; number < std::max(count, only + 1); ++number) {
    if (only != ~0ul && number != only) continue;
    cells.push_back(random_cell(seed, number, scratch.directory(std::to_string(number))));
    numbers.push_back(number);
  }
  std::vector<std::function<Lines()>> runs;
  for (const KillCell& each : cells) runs.emplace_back([&each] { return each.conduct(); });
  const std::vector<Lines> told = rpc::testing::conduct(runs, kAtOnceCells);
  for (std::size_t i = 0; i < cells.size(); ++i) {
    INFO("repeat it: DISTRUN_KILL_SEED=" << seed << " DISTRUN_KILL_ONLY=" << numbers[i]
                                         << " build/bin/contract_rref 'when a rank is killed*'");
    INFO("rank " << cells[i].victim << (cells[i].is_stopped ? " is stopped" : " is killed") << " at step "
                 << cells[i].struck_at);
    check_cell(cells[i], told[i]);
  }
}

}  // namespace distrun::rref::testing
