#include <distrun/runtime/collectives/explain.hpp>

#include <algorithm>
#include <cstring>

#include <distrun/common/base/clock.hpp>
#include <distrun/common/base/error.hpp>
#include <distrun/common/base/rank_list.hpp>
#include <distrun/runtime/core/deaths.hpp>

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
  std::vector<int> ranks;
  for (const int place : places) ranks.push_back(group.ranks[static_cast<std::size_t>(place)]);
  return core::what_they_do(ranks);
}

std::string thrown_text(const std::exception_ptr& error) {
  try {
    std::rethrow_exception(error);
  } catch (const std::exception& thrown) {
    return base::what_of(thrown);
  } catch (...) {
    return "an object that is not a std::exception was thrown";
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

bool is_mismatch(const std::exception_ptr& error) noexcept {
  try {
    std::rethrow_exception(error);
  } catch (const PeerLeft&) {
    return true;
  } catch (const Error& thrown) {
    return thrown.kind() == ErrorKind::InvalidArgument && thrown.type() == "DistBackendError";
  } catch (...) {
    return false;
  }
}

int cause_of(const std::exception& error) noexcept {
  const auto* const own = dynamic_cast<const Error*>(&error);
  return own != nullptr ? own->because_of() : -1;
}

void throw_timeout(const GroupInfo& group, const Call& call, const std::vector<int>& missing) {
  throw Error(ErrorKind::Timeout, "DistBackendError",
              name_of(group, call.kind, call.number) + " has timed out after " + base::human(call.timeout) +
                  (missing.empty() ? "" : ": it waits for " + what_they_do(group, missing)),
              call.site);
}

Call start_until(base::TimePoint deadline) {
  Call start;
  start.deadline = deadline;
  start.timeout = deadline - base::system_clock().now();
  return start;
}

}  // namespace distrun::collectives
