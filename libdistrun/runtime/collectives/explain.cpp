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
    const std::string what = shown ? board::doing(*shown) : "";
    text += (text.empty() ? "rank " : ", rank ") + std::to_string(rank) + (what.empty() ? "" : " (" + what + ")");
  }
  return text;
}

std::string thrown_text(const std::exception_ptr& error) {
  try {
    std::rethrow_exception(error);
  } catch (const std::exception& thrown) {
    return base::what_of(thrown);
  } catch (...) {
    return "something that is no std::exception was thrown";
  }
}

bool is_of_kind(const std::exception_ptr& error, ErrorKind kind) {
  try {
    std::rethrow_exception(error);
  } catch (const Error& thrown) {
    return thrown.kind() == kind;
  } catch (...) {
    return false;
  }
}

void throw_timeout(const GroupInfo& group, const Call& call, base::TimePoint begin, const std::vector<int>& missing) {
  const base::Nanoseconds waited = base::system_clock().now() - begin;
  throw Error(ErrorKind::Timeout, "DistBackendError",
              name_of(group, call.kind, call.number) + " has timed out after " + base::human(waited) +
                  (missing.empty() ? "" : ": it waits for " + what_they_do(group, missing)),
              call.site);
}

}  // namespace distrun::collectives
