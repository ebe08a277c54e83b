#include <distrun/runtime/collectives/nccl/ras_text.hpp>

#include <algorithm>
#include <array>
#include <vector>

#include <distrun/common/base/text.hpp>

namespace distrun::collectives {
namespace {

constexpr std::size_t kRasMost = 8;    // ranks that are reported
constexpr int kRasInProgress = 7;      // an ncclResult_t
constexpr std::size_t kHostMost = 64;  // bytes

std::string ras_error_text(int result) {
  constexpr std::array kNames{"no error",         "unhandled CUDA error", "system error",        "internal error",
                              "invalid argument", "invalid usage",        "remote process error"};
  const auto at = static_cast<std::size_t>(result);
  return at < kNames.size() ? kNames[at] : "error " + std::to_string(result);
}

bool is_ras_error(int result) { return result != 0 && result != kRasInProgress; }

// Point-to-point messages do not involve all ranks.
bool is_of_all(const std::string& operation) {
  return operation.find("Send") == std::string::npos && operation.find("Recv") == std::string::npos;
}

// Returns "AllReduce: 6 of 7" if the rank has begun fewer calls than another one; else empty.
std::string behind(const RasRank& rank, const RasCommunicator& communicator) {
  for (const auto& [operation, count] : rank.calls) {
    if (!is_of_all(operation)) continue;
    std::uint64_t most = count;
    for (const RasRank& other : communicator.ranks) {
      const auto found = other.calls.find(operation);
      if (found != other.calls.end()) most = std::max(most, found->second);
    }
    if (count < most) {
      return base::one_line(operation, kHostMost) + ": " + std::to_string(count) + " of " + std::to_string(most);
    }
  }
  return "";
}

std::string missing_text(const RasMissing& rank) {
  const std::string what = rank.is_dead     ? " is dead"
                           : rank.is_silent ? " does not answer"
                                            : " no longer has the communicator";
  return "is missing (process " + std::to_string(rank.process) + " on " + base::one_line(rank.host, kHostMost) + what +
         ")";
}

// Returns what is wrong with a rank that has reported; empty: nothing.
std::string trouble_text(const RasRank& rank) {
  if (is_ras_error(rank.error)) return "has an error (" + ras_error_text(rank.error) + ")";
  if (is_ras_error(rank.start)) return "has not begun (" + ras_error_text(rank.start) + ")";
  if (rank.start == kRasInProgress) return "has not begun yet";
  return rank.is_aborted ? "has aborted" : "";
}

bool is_of(const RasCommunicator& communicator, const GroupInfo& group, int process) {
  if (communicator.size != group.size()) return false;
  return std::any_of(communicator.ranks.begin(), communicator.ranks.end(),
                     [&](const RasRank& rank) { return rank.place == group.rank && rank.process == process; });
}

using RasFindings = std::vector<std::string>;

struct RasView {
  RasFindings troubles;
  RasFindings late;
};

void add_finding(RasFindings& findings, const GroupInfo& group, int place, const std::string& what) {
  if (what.empty()) return;
  const std::string text = "rank " + std::to_string(group.ranks[static_cast<std::size_t>(place)]) + " " + what;
  if (std::find(findings.begin(), findings.end(), text) == findings.end()) findings.push_back(text);
}

void look_into(const RasCommunicator& communicator, const GroupInfo& group, RasView& view) {
  std::vector<bool> is_told(static_cast<std::size_t>(communicator.size));
  for (const RasMissing& rank : communicator.missing) {
    is_told[static_cast<std::size_t>(rank.place)] = true;
    add_finding(view.troubles, group, rank.place, missing_text(rank));
  }
  for (const RasRank& rank : communicator.ranks) {
    is_told[static_cast<std::size_t>(rank.place)] = true;
    add_finding(view.troubles, group, rank.place, trouble_text(rank));
    const std::string calls = behind(rank, communicator);
    if (!calls.empty()) add_finding(view.late, group, rank.place, "has not arrived (" + calls + ")");
  }
  for (std::size_t place = 0; place < is_told.size(); ++place) {
    if (!is_told[place]) add_finding(view.troubles, group, static_cast<int>(place), "is not in its report");
  }
}

std::string joined(const RasFindings& findings) {
  std::string text;
  for (std::size_t i = 0; i < findings.size() && i < kRasMost; ++i) text += (i == 0 ? "" : ", ") + findings[i];
  return findings.size() > kRasMost ? text + ", and " + std::to_string(findings.size() - kRasMost) + " more" : text;
}

}  // namespace

std::string ras_text(const RasReport& report, const GroupInfo& group, int process) {
  RasView view;
  bool is_known = false;
  for (const RasCommunicator& communicator : report.communicators) {
    if (!is_of(communicator, group, process)) continue;
    is_known = true;
    look_into(communicator, group, view);
  }
  if (!is_known) return "";
  if (!view.troubles.empty()) {
    view.troubles.insert(view.troubles.end(), view.late.begin(), view.late.end());
    return "NCCL's RAS reports: " + joined(view.troubles);
  }
  const std::string all = group.size() == 1 ? "the only rank" : "all " + std::to_string(group.size()) + " ranks";
  return "NCCL's RAS reports OK for " + all + (view.late.empty() ? "" : ", though " + joined(view.late));
}

}  // namespace distrun::collectives
