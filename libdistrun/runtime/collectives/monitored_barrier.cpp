#include <distrun/runtime/collectives/monitored_barrier.hpp>

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include <distrun/common/base/deadline.hpp>
#include <distrun/common/base/error.hpp>
#include <distrun/common/base/text.hpp>
#include <distrun/runtime/collectives/backends.hpp>
#include <distrun/runtime/tensor/core/empty.hpp>

namespace distrun::collectives {
namespace {

// Tags that users do not reach. Each barrier of the group has its own two, so that a rank that arrives late at a failed
// barrier does not count as arrived at the next one.
constexpr std::uint64_t kFirstTag = 0xffff'ff00'0000'0000U;
struct Tags {
  explicit Tags(std::uint64_t number) : come(kFirstTag + 2 * (number % 0x1'0000'0000U)), go(come + 1) {}
  std::uint64_t come;
  std::uint64_t go;
};

Tensor nothing() { return tensor::empty({0}, {DType::U8}); }

// Rank 0's answer to the ranks that have arrived: they may go, or the barrier fails because a rank has died.
struct Answer {
  std::int32_t because_of = -1;
  char why[508] = {};  // null-terminated; empty: go
};

Tensor tensor_of(const Answer& answer) {
  const Tensor bytes = tensor::empty({sizeof answer}, {DType::U8});
  std::memcpy(bytes.data(), &answer, sizeof answer);
  return bytes;
}

Answer answer_in(const Tensor& bytes) {
  Answer answer;
  std::memcpy(&answer, bytes.data(), sizeof answer);
  answer.why[sizeof answer.why - 1] = '\0';
  return answer;
}

Tensor go() { return tensor_of(Answer()); }

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

// Notifies all ranks, including those that arrive later, since a dead rank never arrives.
void tell_all(ProcessGroup& group, const Tags& tags, const base::PeerFailed& failed, base::Location site) {
  constexpr base::Nanoseconds kPatience = std::chrono::milliseconds(100);  // per rank: most have room for a message
  Answer answer;
  answer.because_of = failed.rank();
  std::strncpy(answer.why, failed.what(), sizeof answer.why - 1);
  for (int place = 1; place < group.size(); ++place) {
    try {
      group.send(tensor_of(answer), place, tags.go, {.timeout = kPatience}, site);
    } catch (const Error&) {
      continue;  // the rank has died or does not read its messages
    }
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
  for (int place = 1; place < group.size(); ++place) group.send(go(), place, tags.go, {}, site);
}

void hear_answer(ProcessGroup& group, const Tags& tags, base::Nanoseconds timeout, base::Location site) {
  const Tensor bytes = go();
  group.receive(bytes, 0, tags.go, {.timeout = timeout}, site);
  const Answer answer = answer_in(bytes);
  if (answer.why[0] != '\0') throw base::PeerFailed(base::printable(answer.why), answer.because_of, site);
}

// Refers to rank 0 for the faulty rank, unless the error names it.
std::string reached_text(const std::string& rank, const Error& error, int first) {
  const bool is_known = error.because_of() >= 0 && error.because_of() != first;
  return "Rank " + rank + " successfully reached monitoredBarrier, but received errors while waiting to be unblocked " +
         "by rank 0" + (is_known ? "" : ". Please check rank 0 logs for faulty rank");
}

void wait_to_go(ProcessGroup& group, const Tags& tags, base::Nanoseconds timeout, base::Location site) {
  const std::string rank = std::to_string(group.ranks()[static_cast<std::size_t>(group.rank())]);
  try {
    group.send(nothing(), 0, tags.come, {.timeout = timeout}, site);
    hear_answer(group, tags, timeout, site);
  } catch (Error& error) {
    if (error.kind() != ErrorKind::Timeout) {
      error.while_doing(reached_text(rank, error, group.ranks().front()));
      throw;
    }
    throw Error(
        ErrorKind::Timeout, "DistBackendError",
        "[Rank " + rank + "]: timed out in monitoredBarrier after " + ms_text(timeout) + ": rank 0 has not released it",
        site);
  }
}

}  // namespace

void monitored_barrier(ProcessGroup& group, std::optional<base::Nanoseconds> timeout, bool wait_all_ranks,
                       base::Location site) {
  if (!group.device().is_cpu()) {
    throw Error(ErrorKind::InvalidArgument, "ValueError",
                "monitored_barrier supports only backends for host memory (" + host_backend_names() + "), not " +
                    group.backend(),
                site);
  }
  const base::Nanoseconds bound = timeout.value_or(group.timeout());
  const Tags tags(group.next_monitored_barrier());
  if (group.rank() != 0) return wait_to_go(group, tags, bound, site);
  try {
    gather_all(group, tags, bound, wait_all_ranks, site);
  } catch (const base::PeerFailed& failed) {
    tell_all(group, tags, failed, site);
    throw;
  }
}

}  // namespace distrun::collectives
