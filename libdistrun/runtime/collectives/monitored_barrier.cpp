#include <distrun/runtime/collectives/monitored_barrier.hpp>

#include <algorithm>
#include <string>
#include <vector>

#include <distrun/common/base/error.hpp>
#include <distrun/runtime/tensor/core/empty.hpp>

namespace distrun::collectives {
namespace {

// No user's: those are what people count with.
constexpr std::uint64_t kCome = 0xfffffffffffffff0U;
constexpr std::uint64_t kGo = 0xfffffffffffffff1U;

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

bool has_come(ProcessGroup& group, int place, base::TimePoint deadline, base::Location site) {
  const base::Nanoseconds left = std::max(deadline - base::system_clock().now(), base::TimePoint::duration(0));
  try {
    group.receive(nothing(), place, kCome, {.timeout = left}, site);
    return true;
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::Timeout) throw;
    return false;
  }
}

void gather_all(ProcessGroup& group, base::Nanoseconds timeout, bool wait_all_ranks, base::Location site) {
  const base::TimePoint deadline = base::system_clock().now() + timeout;
  std::vector<int> missing;
  for (int place = 1; place < group.size(); ++place) {
    if (has_come(group, place, deadline, site)) continue;
    missing.push_back(place);
    if (!wait_all_ranks) break;
  }
  if (!missing.empty()) throw_missing(group, missing, timeout, site);
  for (int place = 1; place < group.size(); ++place) group.send(nothing(), place, kGo, {}, site);
}

void wait_to_go(ProcessGroup& group, base::Nanoseconds timeout, base::Location site) {
  const std::string rank = std::to_string(group.ranks()[static_cast<std::size_t>(group.rank())]);
  group.send(nothing(), 0, kCome, {.timeout = timeout}, site);
  try {
    group.receive(nothing(), 0, kGo, {.timeout = timeout}, site);
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
  if (group.rank() == 0) {
    gather_all(group, bound, wait_all_ranks, site);
  } else {
    wait_to_go(group, bound, site);
  }
}

}  // namespace distrun::collectives
