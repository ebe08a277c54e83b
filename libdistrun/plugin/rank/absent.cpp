#include <distrun/plugin/rank/absent.hpp>

#include <algorithm>
#include <optional>

#include <distrun/common/base/rank_list.hpp>
#include <distrun/common/board/slot_reader.hpp>

namespace distrun::rank {
namespace {

// Compares with a name from the board, which may be cut.
bool is_name(const std::string& shown, const std::string& whole) {
  return shown == whole ||
         (whole.size() > shown.size() && shown.size() + 4 >= board::kNameSize && whole.starts_with(shown));
}

// Returns how many times the rank has arrived at the barrier in this test; 0 if its recent operations do not show it.
std::uint64_t times_come(const board::Shown& shown, const Coming& coming) {
  std::uint64_t times = 0;
  for (const board::ShownOperation& operation : shown.operations) {
    const base::TimePoint at{base::Nanoseconds(operation.at_ns)};
    const bool is_it = operation.kind == board::WaitKind::Barrier && is_name(operation.name, coming.barrier);
    if (is_it && at >= coming.test_began) times = std::max(times, operation.id);
  }
  return times;
}

// A wait without an operation may belong to the previous round, which the rank has not left yet.
bool has_come(const board::Shown& shown, const Coming& coming) {
  if (const std::uint64_t times = times_come(shown, coming)) return times >= coming.round;
  return std::any_of(shown.waits.begin(), shown.waits.end(), [&](const board::ShownWait& wait) {
    return wait.kind == board::WaitKind::Barrier && is_name(wait.name, coming.barrier);
  });
}

}  // namespace

std::vector<int> absent_from(const board::RankBoard& board, int rank, int world_size, const Coming& coming,
                             bool several_hosts) {
  std::vector<int> absent;
  for (int peer = 0; peer < world_size; ++peer) {
    const board::Slot* slot = board.peer(peer);
    if (peer == rank || slot == nullptr) continue;
    const std::optional<board::Shown> shown = board::read(*slot, world_size);
    const bool is_absent = shown ? !has_come(*shown, coming) : !several_hosts;
    if (is_absent) absent.push_back(peer);
  }
  return absent;
}

std::string absent_text(const std::vector<int>& ranks) {
  if (ranks.empty()) return "";
  return ": " + base::ranks_label(ranks) + (ranks.size() == 1 ? " has" : " have") + " not arrived";
}

}  // namespace distrun::rank
