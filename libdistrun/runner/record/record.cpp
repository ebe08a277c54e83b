#include <distrun/runner/record/record.hpp>

#include <utility>

namespace distrun::runner {

const char* name_of(LeakKind kind) noexcept {
  switch (kind) {
    case LeakKind::Process: return "process";
    case LeakKind::SharedMemory: return "shared memory";
    case LeakKind::Socket: return "socket";
    case LeakKind::File: return "file";
    case LeakKind::Descriptor: return "descriptor";
    case LeakKind::Thread: return "thread";
    case LeakKind::State: return "state";
    case LeakKind::Semaphores: return "semaphores";
    case LeakKind::Queue: return "message queue";
  }
  return "unknown";
}

base::RankHosts hosts_of(const AttemptRecord& attempt) {
  std::vector<std::string> hosts;
  for (const RankRecord& rank : attempt.ranks) {
    if (rank.rank < 0) continue;
    const auto index = static_cast<std::size_t>(rank.rank);
    if (index >= hosts.size()) hosts.resize(index + 1);
    hosts[index] = rank.host;
  }
  return base::RankHosts(std::move(hosts));
}

const char* name_of(SnapshotKind kind) noexcept {
  switch (kind) {
    case SnapshotKind::Timeout: return "timeout";
    case SnapshotKind::Crash: return "crash";
    case SnapshotKind::Slow: return "slow";
    case SnapshotKind::Asked: return "asked";
    case SnapshotKind::Exception: return "exception";
    case SnapshotKind::Deadlock: return "deadlock";
    case SnapshotKind::Suspect: return "suspect";
    case SnapshotKind::Failure: return "failure";
  }
  return "unknown";
}

const char* name_of(CauseKind kind) noexcept {
  switch (kind) {
    case CauseKind::None: return "none";
    case CauseKind::Stopped: return "stopped";
    case CauseKind::Infra: return "infra";
    case CauseKind::Host: return "host";
    case CauseKind::NoRanks: return "no-ranks";
    case CauseKind::Action: return "action";
    case CauseKind::Awaited: return "awaited";
    case CauseKind::LeftEarly: return "left-early";
    case CauseKind::Unknown: return "unknown";
    case CauseKind::Deadlock: return "deadlock";
    case CauseKind::Disagreement: return "disagreement";
    case CauseKind::Skipped: return "skipped";
    case CauseKind::LeftBehind: return "left-behind";
  }
  return "?";
}

const char* name_of(Bind bind) noexcept {
  switch (bind) {
    case Bind::None: return "none";
    case Bind::Core: return "core";
    case Bind::Numa: return "numa";
  }
  return "unknown";
}

const char* name_of(MpiUse use) noexcept {
  switch (use) {
    case MpiUse::Auto: return "auto";
    case MpiUse::On: return "on";
    case MpiUse::Off: return "off";
  }
  return "unknown";
}

const char* name_of(DeadlockPolicy policy) noexcept {
  switch (policy) {
    case DeadlockPolicy::Off: return "off";
    case DeadlockPolicy::Report: return "report";
    case DeadlockPolicy::Verdict: return "verdict";
  }
  return "unknown";
}

const char* name_of(AttemptKind kind) noexcept {
  switch (kind) {
    case AttemptKind::First: return "first";
    case AttemptKind::Repeat: return "repeat";
    case AttemptKind::Retry: return "retry";
  }
  return "unknown";
}

bool is_empty_shard(const RunRecord& run) noexcept {
  return run.settings.shard.count > 1 && run.selected > 0 && run.tests.empty() && run.not_run == 0;
}

int exit_code_of(const RunRecord& run) noexcept {
  if (run.interrupted) return 130;
  if (!run.problems.empty() || run.total(Verdict::InfraError) > 0) return 3;
  const int good = run.total(Verdict::Pass) + (run.settings.flaky_fails ? 0 : run.total(Verdict::Flaky));
  const int skipped = run.total(Verdict::Skip);
  if (good + skipped < static_cast<int>(run.tests.size())) return 1;
  if (good > 0 || is_empty_shard(run)) return 0;
  return skipped > 0 && run.settings.skips_pass ? 0 : 4;
}

}  // namespace distrun::runner
