#include <distrun/runner/record/doctor/examination.hpp>

#include <algorithm>
#include <iterator>
#include <utility>

#include <distrun/runner/record/doctor/build_graph.hpp>

namespace distrun::runner::doctor {
namespace {

bool has_stack(const evidence::Process& process) {
  return std::any_of(process.threads.begin(), process.threads.end(),
                     [](const wire::ThreadStack& thread) { return !thread.frames.empty(); });
}

// The probe may have failed before it said anything of the process.
std::string why_unseen(const evidence::Process& process) {
  if (!process.why_none.empty()) return process.why_none;
  for (const evidence::Source& source : process.sources) {
    if (source.name == "probe" && !source.answered) return source.why_not;
  }
  return "";
}

std::string name_of(const evidence::Process& process, const base::RankHosts& hosts) {
  const std::string& host = hosts.of(process.rank >= 0 ? process.rank : process.of_rank);
  return "process " + std::to_string(process.pid) + (host.empty() ? "" : " on " + host);
}

std::vector<std::string> unseen_in(const Snapshot& snapshot, int asked) {
  std::vector<std::string> unseen;
  for (const evidence::Process& process : snapshot.stacks.processes) {
    const bool must_be_seen = process.rank >= 0 || (process.of_rank < 0 && process.index < asked);
    const std::string why = has_stack(process) ? "" : why_unseen(process);
    if (must_be_seen && !why.empty()) unseen.push_back(name_of(process, snapshot.hosts) + ": " + why);
  }
  return unseen;
}

HangFinding finding_of(const Examination& examination) {
  const auto is_unknown = [](const HangCause& cause) { return cause.kind == HangKind::Unknown; };
  if (std::any_of(examination.causes.begin(), examination.causes.end(), is_hang)) return HangFinding::Hang;
  if (!examination.unseen.empty()) return HangFinding::Unseen;
  const bool has_unknown = std::any_of(examination.causes.begin(), examination.causes.end(), is_unknown);
  return has_unknown ? HangFinding::Unknown : HangFinding::NoHang;
}

// Orders what explains a hang first, then the unknown, then what makes progress.
void order(std::vector<HangCause>& causes) {
  const auto urgency = [](const HangCause& cause) { return is_hang(cause) ? 0 : cause.kind == HangKind::Slow ? 2 : 1; };
  std::stable_sort(causes.begin(), causes.end(),
                   [&](const HangCause& a, const HangCause& b) { return urgency(a) < urgency(b); });
}

}  // namespace

const char* name_of(HangFinding finding) noexcept {
  switch (finding) {
    case HangFinding::NoHang: return "no-hang";
    case HangFinding::Hang: return "hang";
    case HangFinding::Unknown: return "unknown";
    case HangFinding::Unseen: return "unseen";
  }
  return "unknown";
}

bool is_hang(const HangCause& cause) noexcept {
  const bool has_kind = cause.kind != HangKind::Slow && cause.kind != HangKind::Unknown;
  return cause.certainty == Certainty::Proven || (has_kind && cause.certainty == Certainty::Likely);
}

Examination examine(const Snapshot& now, const Snapshot* earlier, int asked) {
  Diagnosis diagnosis = diagnose(graph_of(now, earlier));
  Examination examination;
  examination.causes = std::move(diagnosis.causes);
  std::move(diagnosis.notes.begin(), diagnosis.notes.end(), std::back_inserter(examination.causes));
  order(examination.causes);
  examination.unseen = unseen_in(now, asked);
  examination.finding = finding_of(examination);
  return examination;
}

HangFinding worst_of(HangFinding one, HangFinding other) noexcept {
  constexpr HangFinding kOrder[] = {HangFinding::Hang, HangFinding::Unseen, HangFinding::Unknown};
  for (const HangFinding each : kOrder) {
    if (one == each || other == each) return each;
  }
  return HangFinding::NoHang;
}

}  // namespace distrun::runner::doctor
