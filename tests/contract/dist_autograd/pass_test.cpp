// Kills a rank at a random step of its agent while four differentiate together: every pass of the others ends at once,
// successfully or with an error that names the victim, and they go on without it.
//
//   DISTRUN_KILL_CELLS=300    number of cells
//   DISTRUN_KILL_SEED=7       other random cells
#include <catch2/catch.hpp>

#include <random>

#include <distrun/common/base/sanitizer.hpp>

#include "../rpc/session_table.hpp"
#include "../rpc/told_lines.hpp"
#include "pass_cell.hpp"
#include "support/environment.hpp"
#include "support/sandbox.hpp"
#include "support/scratch.hpp"

namespace distrun::dist_autograd::testing {
namespace {

using namespace std::chrono_literals;
using distrun::testing::number_of;

constexpr unsigned long kCells = base::kSanitized ? 6 : 24;
constexpr unsigned long kSeed = 20'262;
constexpr int kAtOnceCells = 3;
constexpr int kStepsMax = 1500;  // approximate number of steps

PassCell random_cell(unsigned long seed, unsigned long number, std::string folder) {
  std::mt19937 random(static_cast<std::mt19937::result_type>(seed * 1'000'003 + number));
  PassCell cell;
  cell.seed = seed * 1'000'003 + number;
  cell.victim = static_cast<int>(random() % kPassRanks);
  cell.struck_at = static_cast<int>(random() % kStepsMax);
  cell.folder = std::move(folder);
  return cell;
}

void check_cell(const PassCell& cell, const Lines& lines) {
  rpc::testing::check_told(lines, kPassRanks - 1, "again", [&](const rpc::testing::Timed& came) {
    const std::chrono::milliseconds bound = came.phase == "again" ? 20s : 1s;
    CHECK(came.seconds < std::chrono::duration<double>(distrun::testing::at_latest(bound)).count());
    CHECK((came.text == "done" || (came.phase == "pass" && rpc::testing::names(came.text, cell.victim))));
  });
}

}  // namespace

TEST_CASE("when a rank is killed in the middle of passes, the others get an error with its name and continue") {
  const unsigned long seed = number_of("DISTRUN_KILL_SEED", kSeed), count = number_of("DISTRUN_KILL_CELLS", kCells);
  const distrun::testing::Scratch scratch;
  std::vector<PassCell> cells;
  for (unsigned long number = 0; number < count; ++number) {
    cells.push_back(random_cell(seed, number, scratch.directory(std::to_string(number))));
  }
  std::vector<std::function<Lines()>> runs;
  for (const PassCell& each : cells) runs.emplace_back([&each] { return each.conduct(); });
  const std::vector<Lines> told = rpc::testing::conduct(runs, kAtOnceCells);
  for (std::size_t i = 0; i < cells.size(); ++i) {
    INFO("cell " << i << ": rank " << cells[i].victim << " is killed at step " << cells[i].struck_at);
    check_cell(cells[i], told[i]);
  }
}

}  // namespace distrun::dist_autograd::testing
