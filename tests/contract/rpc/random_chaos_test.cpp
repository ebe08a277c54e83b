// Random cells: strikes a rank at a random step of its agent, over a random transport. Every init_rpc, call and
// shutdown of the others must end in time, successfully or with an error that names the rank; calls between the others
// must succeed.
#include <catch2/catch.hpp>

#include <map>
#include <random>

#include <distrun/common/base/sanitizer.hpp>

#include "session_cell.hpp"
#include "support/environment.hpp"
#include "support/sandbox.hpp"
#include "support/scratch.hpp"

namespace distrun::rpc::testing {
namespace {

using namespace std::chrono_literals;

constexpr unsigned long kCells = base::kSanitized ? 30 : 200;
constexpr unsigned long kSeed = 20'260;
constexpr int kAtOnceCells = 5;
constexpr int kStepsMax = 36;  // approximate number of steps

using distrun::testing::number_of;

// Derives a cell from its number only, independent of the other cells.
SessionCell random_cell(unsigned long seed, unsigned long number, std::string folder) {
  std::mt19937 random(static_cast<std::mt19937::result_type>(seed * 1'000'003 + number));
  const auto below = [&](int limit) { return static_cast<int>(random() % static_cast<unsigned>(limit)); };
  constexpr Fault kFaults[] = {Fault::Dies, Fault::Exits, Fault::Stops};
  constexpr const char* kTransports[] = {"shm", "uds", "tcp"};
  SessionCell cell;
  cell.row = {kFaults[below(3)], Moment::Idle, kWell, kWell, kWell};
  cell.victim = below(kRanks);
  cell.struck_at = below(kStepsMax);
  cell.transport = kTransports[below(3)];
  cell.folder = std::move(folder);
  return cell;
}

double bound_of(const SessionCell& cell, const std::string& phase) {
  const std::map<std::string, base::Nanoseconds> bounds{
      {"init", kInitTimeout},
      {"call", cell.row.fault == Fault::Stops ? kCallTimeout : kAtOnce},
      {"other", kAtOnce},
      {"shutdown", kShutdownTimeout},
  };
  const auto found = bounds.find(phase);
  const base::Nanoseconds bound = found != bounds.end() ? found->second : kAtOnce;
  return std::chrono::duration<double>(bound + distrun::testing::scaled(1000ms)).count();
}

void check_line(const SessionCell& cell, const std::string& line) {
  const Timed came = timed_of(line.substr(2));
  CAPTURE(line);
  CHECK(came.text != "");
  CHECK(came.seconds < bound_of(cell, came.phase));
  if (came.text == "done") return;
  CHECK(came.phase != "other");
  CHECK(names(came.text, cell.victim));
}

// Checks that each of the others has finished.
void check_ends(const SessionCell& cell, const Lines& lines) {
  std::map<char, std::string> last;
  for (const std::string& each : lines) last[each[0]] = each.substr(2);
  CHECK(last.size() == static_cast<std::size_t>(kRanks - 1));
  for (const auto& [rank, line] : last) {
    const bool is_over = line.starts_with("shutdown|") || timed_of(line).text != "done";
    CHECK(is_over);
  }
  CHECK(last.count(static_cast<char>('0' + cell.victim)) == 0);
}

void check_cell(const SessionCell& cell, const Lines& lines) {
  std::string all;
  for (const std::string& each : lines) all += "\n  " + each;
  INFO("all lines:" << all);
  for (const std::string& each : lines) check_line(cell, each);
  check_ends(cell, lines);
}

}  // namespace

TEST_CASE("whenever a rank is struck, all calls of the others end in time, and name it") {
  const unsigned long seed = number_of("DISTRUN_CHAOS_SEED", kSeed);
  const unsigned long only = number_of("DISTRUN_CHAOS_ONLY", kCells);
  const distrun::testing::Scratch scratch;
  std::vector<SessionCell> cells;
  std::vector<unsigned long> numbers;
  for (unsigned long number = 0; number < kCells; ++number) {
    if (only < kCells && number != only) continue;
    cells.push_back(random_cell(seed, number, scratch.directory(std::to_string(number))));
    numbers.push_back(number);
  }
  std::vector<std::function<Lines()>> runs;
  for (const SessionCell& each : cells) runs.emplace_back([&each] { return each.conduct(); });
  const std::vector<Lines> told = conduct(runs, kAtOnceCells);
  for (std::size_t i = 0; i < cells.size(); ++i) {
    INFO("repeat it: DISTRUN_CHAOS_SEED=" << seed << " DISTRUN_CHAOS_ONLY=" << numbers[i]
                                          << " build/bin/contract_rpc_chaos 'whenever a rank*'");
    INFO("rank " << cells[i].victim << " " << sentence(cells[i].row.fault) << " at step " << cells[i].struck_at
                 << ", over " << cells[i].transport);
    check_cell(cells[i], told[i]);
  }
}

}  // namespace distrun::rpc::testing
