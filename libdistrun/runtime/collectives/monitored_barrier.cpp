#include <distrun/runtime/collectives/monitored_barrier.hpp>

#include <algorithm>
#include <string>
#include <vector>

#include <distrun/common/base/deadline.hpp>
#include <distrun/common/base/error.hpp>
#include <distrun/runtime/tensor/core/empty.hpp>

namespace distrun::collectives {
namespace {

// Tags that no user counts to. Each barrier of the group has two of its own: who comes late to one that has failed has
// not come to the next.
constexpr std::uint64_t kFirstTag = 0xffff'ff00'0000'0000U;
struct Tags {
  explicit Tags(std::uint64_t number) : come(kFirstTag + 2 * (number % 0x1'0000'0000U)), go(come + 1) {}
  std::uint64_t come;
  std::uint64_t go;
};

Tensor nothing() { return tensor::empty({0}, {DType::U8}); }

std::string ms_text(base::Nanoseconds timeout) {
  return std::to_string(std::chrono::duration_cast<std::chrono::milliseconds>(timeout).count()) + " ms";
}

[[noreturn]] void throw_missing(const ProcessGroup& group, const std::vector<int>& missing, base::Nanoseconds timeout,
                                base::Location site) {
  std::string ranks;
  for (const int place : missing) {
    ranks += (ranks.empty() ? "" : ", ") + std::to_string(group.ranks()[static_cast<std::size_t>(place)]);
  }
  throw Error(
      ErrorKind::Timeout, "DistBackendError",
      (missing.size() == 1 ? "Rank " : "Ranks ") + ranks + " failed to pass monitoredBarrier in " + ms_text(timeout),
      site);
}

bool has_come(ProcessGroup& group, int place, const Tags& tags, base::TimePoint deadline, base::Location site) {
  const base::Nanoseconds left = std::max(deadline - base::system_clock().now(), base::TimePoint::duration(0));
  try {
    group.receive(nothing(), place, tags.come, {.timeout = left}, site);
    return true;
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::Timeout) throw;
    return false;
  }
}

void gather_all(ProcessGroup& group, const Tags& tags, base::Nanoseconds timeout, bool wait_all_ranks,
                base::Location site) {
  const base::TimePoint deadline = base::deadline_after(timeout);
  std::vector<int> missing;
  for (int place = 1; place < group.size(); ++place) {
    if (has_come(group, place, tags, deadline, site)) continue;
    missing.push_back(place);
    if (!wait_all_ranks) break;
  }
  if (!missing.empty()) throw_missing(group, missing, timeout, site);
  for (int place = 1; place < group.size(); ++place) group.send(nothing(), place, tags.go, {}, site);
}

void wait_to_go(ProcessGroup& group, const Tags& tags, base::Nanoseconds timeout, base::Location site) {
  const std::string rank = std::to_string(group.ranks()[static_cast<std::size_t>(group.rank())]);
  group.send(nothing(), 0, tags.come, {.timeout = timeout}, site);
  try {
    group.receive(nothing(), 0, tags.go, {.timeout = timeout}, site);
  } catch (Error& error) {
    if (error.kind() != ErrorKind::Timeout) {
      error.while_doing("Rank " + rank + " successfully reached monitoredBarrier, but received errors while " +
                        "waiting to be unblocked by rank 0. Please check rank 0 logs for faulty rank");
      throw;
    }
    throw Error(
        ErrorKind::Timeout, "DistBackendError",
        "[Rank " + rank + "]: timed out in monitoredBarrier after " + ms_text(timeout) + ": rank 0 has not let it go",
        site);
  }
}

}  // namespace

void monitored_barrier(ProcessGroup& group, std::optional<base::Nanoseconds> timeout, bool wait_all_ranks,
                       base::Location site) {
  if (!group.device().is_cpu()) {
    throw Error(ErrorKind::InvalidArgument, "ValueError",
                "monitored_barrier is for backends that move bytes of the host (shm, threads, gloo), not for " +
                    group.backend(),
                site);
  }
  const base::Nanoseconds bound = timeout.value_or(group.timeout());
  const Tags tags(group.next_monitored_barrier());
  if (group.rank() == 0) {
    gather_all(group, tags, bound, wait_all_ranks, site);
  } else {
    wait_to_go(group, tags, bound, site);
  }
}

}  // namespace distrun::collectives
