#include <distrun/runtime/collectives/explain.hpp>

#include <algorithm>
#include <cstring>
#include <optional>

#include <distrun/common/base/clock.hpp>
#include <distrun/common/base/error.hpp>
#include <distrun/common/base/rank_list.hpp>
#include <distrun/common/board/describe.hpp>
#include <distrun/runtime/core/rank_state.hpp>

namespace distrun::collectives {
namespace {

// The innermost of the body's own waits; else the longest of its other threads.
const board::ShownWait* main_wait(const board::Shown& shown) {
  const auto own =
      std::find_if(shown.waits.rbegin(), shown.waits.rend(), [](const board::ShownWait& wait) { return wait.in_body; });
  if (own != shown.waits.rend()) return &*own;
  return shown.waits.empty() ? nullptr : &shown.waits.front();
}

std::string what_it_does(const board::Shown& shown) {
  if (shown.phase > wire::Phase::Body) return "has ended its test's body";
  if (const board::ShownWait* wait = main_wait(shown)) {
    const std::string site = board::site_of(*wait);
    return "waits in " + board::describe(*wait) + (site.empty() ? "" : " at " + site);
  }
  return shown.operations.empty() ? "" : "did last: " + board::describe(shown.operations.back());
}

}  // namespace

std::string name_of(const GroupInfo& group, CallKind kind, std::uint64_t number) {
  if (number == 0) return "the start of group " + group.name;
  return std::string(name_of(kind)) + " number " + std::to_string(number) + " of group " + group.name;
}

std::string site_text(const char* file, std::uint32_t line) {
  const char* slash = std::strrchr(file, '/');
  const std::string name = slash != nullptr ? slash + 1 : file;
  return name.empty() ? name : name + ":" + std::to_string(line);
}

std::string ranks_text(const GroupInfo& group, const std::vector<int>& places) {
  std::vector<int> ranks;
  for (const int place : places) ranks.push_back(group.ranks[static_cast<std::size_t>(place)]);
  std::sort(ranks.begin(), ranks.end());
  return base::ranks_label(ranks);
}

std::string what_they_do(const GroupInfo& group, const std::vector<int>& places) {
  const core::RankLine* line = core::rank_state().line();
  std::string text;
  for (const int place : places) {
    const int rank = group.ranks[static_cast<std::size_t>(place)];
    const std::optional<board::Shown> shown = line != nullptr ? line->look_at(rank) : std::nullopt;
    const std::string what = shown ? what_it_does(*shown) : "";
    text += (text.empty() ? "rank " : ", rank ") + std::to_string(rank) + (what.empty() ? "" : " (" + what + ")");
  }
  return text;
}

void throw_timeout(const GroupInfo& group, const Call& call, base::TimePoint begin, const std::vector<int>& missing) {
  const base::Nanoseconds waited = base::system_clock().now() - begin;
  throw Error(ErrorKind::Timeout, "DistBackendError",
              name_of(group, call.kind, call.number) + " has timed out after " + base::human(waited) +
                  (missing.empty() ? "" : ": it waits for " + what_they_do(group, missing)),
              call.site);
}

}  // namespace distrun::collectives
