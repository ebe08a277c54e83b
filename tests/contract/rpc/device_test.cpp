// Sends tensors on virtual GPUs between processes, over each channel: each value is right, no access lacks stream
// order, and a killed rank harms no other.
//
//   DISTRUN_KILL_CELLS=300    number of killed ranks
//   DISTRUN_KILL_SEED=7       other random cells
#include <catch2/catch.hpp>

#include <random>

#include <distrun/common/base/sanitizer.hpp>

#include "device_cell.hpp"
#include "session_table.hpp"
#include "support/environment.hpp"
#include "support/sandbox.hpp"
#include "support/scratch.hpp"
#include "told_lines.hpp"

namespace distrun::rpc::testing {
namespace {

using namespace std::chrono_literals;
using distrun::testing::number_of;

constexpr unsigned long kCells = base::kSanitized ? 4 : 16;
constexpr unsigned long kSeed = 20'265;
constexpr int kAtOnce = 2;
constexpr int kStepsMax = 1000;  // approximate number of steps

std::vector<Lines> conducted(const std::vector<DeviceCell>& cells) {
  std::vector<std::function<Lines()>> runs;
  for (const DeviceCell& each : cells) runs.emplace_back([&each] { return each.conduct(); });
  return rpc::testing::conduct(runs, kAtOnce);
}

void check_channel(DeviceCell cell, const std::string& channel) {
  const distrun::testing::Scratch scratch;
  cell.seed = kSeed;
  cell.folder = scratch.directory("cell");
  check_told(conducted({cell}).front(), kDeviceRanks, "channel", [&](const Timed& came) {
    CHECK(came.phase == "channel");
    CHECK(came.text == channel);
  });
}

}  // namespace

TEST_CASE("processes of one machine open handles of each other's device memory") { check_channel({}, "ipc"); }

// A process has 256 events, and each transfer uses one at either end.
TEST_CASE("more tensors may be in flight at a time than there are events for them") {
  DeviceCell cell;
  cell.rounds = 1;
  cell.at_once = 400;
  check_channel(cell, "ipc");
}

TEST_CASE("if no handles can be opened, tensors are sent through the host") {
  DeviceCell cell;
  cell.may_use_handles = false;
  check_channel(cell, "staged");
}

TEST_CASE("a killed rank is named to those that read its devices' memory, and they continue without it") {
  const unsigned long seed = number_of("DISTRUN_KILL_SEED", kSeed), count = number_of("DISTRUN_KILL_CELLS", kCells);
  const distrun::testing::Scratch scratch;
  std::vector<DeviceCell> cells;
  for (unsigned long number = 0; number < count; ++number) {
    std::mt19937 random(static_cast<std::mt19937::result_type>(seed * 1'000'003 + number));
    DeviceCell cell;
    cell.seed = seed * 1'000'003 + number;
    cell.victim = static_cast<int>(random() % kDeviceRanks);
    cell.struck_at = static_cast<int>(random() % kStepsMax);
    cell.folder = scratch.directory(std::to_string(number));
    cells.push_back(std::move(cell));
  }
  const std::vector<Lines> told = conducted(cells);
  for (std::size_t i = 0; i < cells.size(); ++i) {
    INFO("cell " << i << ": rank " << cells[i].victim << " is killed at step " << cells[i].struck_at);
    check_told(told[i], kDeviceRanks - 1, "again", [&](const Timed& came) {
      const bool is_well = came.text == "done" || came.phase == "channel";
      const bool is_value_lost = came.text.find("ended before its work was done") != std::string::npos;
      const bool is_told = came.phase == "calls" && (is_value_lost || names(came.text, cells[i].victim));
      CHECK((is_well || is_told));
    });
  }
}

}  // namespace distrun::rpc::testing
