#include <distrun/runner/run/status.hpp>

#include <algorithm>

#include <distrun/runner/proc/usage.hpp>
#include <distrun/runner/record/describe.hpp>
#include <distrun/runner/record/snapshot.hpp>
#include <distrun/runner/run/host_events.hpp>

namespace distrun::runner {
namespace {

std::int64_t ms_of(Nanoseconds duration) {
  return std::chrono::duration_cast<std::chrono::milliseconds>(duration).count();
}

std::string doing(const RankState& rank) {
  if (rank.decided()) return describe(rank.record.outcome);
  return rank.started ? name_of(rank.record.phase) : "not started";
}

void add_wait(wire::RankStatus& status, const std::vector<WaitLine>& lines) {
  const auto own = std::find_if(lines.begin(), lines.end(), [&](const WaitLine& line) {
    return std::find(line.ranks.begin(), line.ranks.end(), status.rank) != line.ranks.end();
  });
  if (own == lines.end()) return;
  status.since_ms = ms_of(own->longest);
  status.waits = wait_text(*own);
}

}  // namespace

wire::TestStatus describe(const Attempt& attempt, base::TimePoint now) {
  wire::TestStatus status;
  status.test = attempt.test().id;
  status.attempt = attempt.n();
  status.test_ms = ms_of(attempt.age());
  const std::vector<WaitLine> lines = wait_lines(attempt.views(), monotonic_ns(now), attempt.hosts());
  for (const RankState& rank : attempt.ranks()) {
    wire::RankStatus line;
    line.rank = rank.record.rank;
    line.pid = rank.record.pid;
    line.host = rank.record.host;
    line.doing = doing(rank);
    add_wait(line, lines);
    if (attempt.test().is_host()) line.rank = kHostRank;
    if (!line.host.empty()) {
      line.cpu_ms = static_cast<std::uint64_t>(ms_of(attempt.cpu_time(rank.record.rank)));
    } else if (rank.alive()) {
      const proc::Usage usage = proc::usage_of(rank.record.pid);
      line.cpu_ms = static_cast<std::uint64_t>(ms_of(usage.cpu));
      line.memory_bytes = usage.memory_bytes;
    }
    status.ranks.push_back(std::move(line));
  }
  return status;
}

}  // namespace distrun::runner
