#include <distrun/runner/report/text/findings.hpp>

#include <algorithm>
#include <map>

#include <distrun/common/base/text.hpp>
#include <distrun/runner/record/describe.hpp>

namespace distrun::report {
namespace {

using runner::AttemptRecord;
using runner::OutcomeKind;
using runner::RankRecord;

const RankRecord* find_rank(const AttemptRecord& attempt, int rank) {
  // Usually at its own index.
  const auto index = static_cast<std::size_t>(rank);
  if (rank >= 0 && index < attempt.ranks.size() && attempt.ranks[index].rank == rank) {
    return &attempt.ranks[index];
  }
  const auto at = std::find_if(attempt.ranks.begin(), attempt.ranks.end(),
                               [rank](const RankRecord& record) { return record.rank == rank; });
  return at == attempt.ranks.end() ? nullptr : &*at;
}

// Names the action of a rank that affected others.
const char* action_of(OutcomeKind kind) {
  switch (kind) {
    case OutcomeKind::Exited: return "left";
    case OutcomeKind::Signaled: return "died";
    case OutcomeKind::Skipped: return "skipped";
    case OutcomeKind::TimedOut: return "timed out";
    case OutcomeKind::Lost: return "was lost";
    default: return "failed";
  }
}

// Returns false if the outcome does not depend on the phase, or the phase is the same for all ranks.
bool phase_matters(const AttemptRecord& attempt, const RankRecord& rank) {
  switch (rank.outcome.kind) {
    case OutcomeKind::Passed:
    case OutcomeKind::Skipped:
    case OutcomeKind::Failed: return false;
    case OutcomeKind::KilledByUs: return rank.phase != attempt.phase;
    default: return true;
  }
}

// Returns equal keys for ranks with the same result.
std::string key_of(const RankRecord& rank, const std::string& story, bool with_notes) {
  std::string key = story;
  for (const runner::RankError& error : rank.errors) {
    key += '\0' + error.type + '\0' + error.text + '\0' + error.file + ':' + std::to_string(error.line) + '\0' +
           error.stack;
  }
  if (!with_notes) return key;
  for (const wire::KeyValue& note : rank.notes) key += '\1' + note.key + '\1' + note.value;
  return key;
}

class Folder {
 public:
  Folder(const AttemptRecord& attempt, bool with_notes) : attempt_(attempt), with_notes_(with_notes) {}

  void add(const RankRecord& rank) {
    std::string story = story_of(attempt_, rank);
    const auto [at, is_new] = index_.try_emplace(key_of(rank, story, with_notes_), findings_.size());
    if (is_new) findings_.push_back({{}, &rank, std::move(story)});
    findings_[at->second].ranks.push_back(rank.rank);
  }
  std::vector<Finding> take() {
    for (Finding& finding : findings_) std::sort(finding.ranks.begin(), finding.ranks.end());
    return std::move(findings_);
  }

 private:
  const AttemptRecord& attempt_;
  bool with_notes_;
  std::map<std::string, std::size_t> index_;
  std::vector<Finding> findings_;
};

}  // namespace

std::string story_of(const AttemptRecord& attempt, const RankRecord& rank) {
  std::string story = base::one_line(runner::describe_outcome(rank), 500);
  if (phase_matters(attempt, rank)) story += runner::describe_phase(rank);
  if (const std::string crash = runner::crash_text(rank); !crash.empty()) story += ": " + crash;
  if (rank.declared_death) story += ", as declared";
  if (rank.because_of >= 0) {
    const RankRecord* cause = find_rank(attempt, rank.because_of);
    story += " after " + hosts_of(attempt).label(rank.because_of) + " " +
             action_of(cause == nullptr ? OutcomeKind::Failed : cause->outcome.kind);
  }
  if (!rank.waiting_in.empty()) story += ", waiting in " + base::one_line(rank.waiting_in);
  return story;
}

std::vector<const RankRecord*> culprits_first(const AttemptRecord& attempt) {
  std::vector<const RankRecord*> ranks;
  std::vector<bool> taken(attempt.ranks.size());
  for (const int culprit : attempt.culprits) {
    const RankRecord* rank = find_rank(attempt, culprit);
    if (rank == nullptr) continue;
    const auto index = static_cast<std::size_t>(rank - attempt.ranks.data());
    if (!taken[index]) ranks.push_back(rank);
    taken[index] = true;
  }
  for (std::size_t i = 0; i < taken.size(); ++i) {
    if (!taken[i]) ranks.push_back(&attempt.ranks[i]);
  }
  return ranks;
}

Findings findings_of(const AttemptRecord& attempt) {
  Folder culprits(attempt, true);
  Folder others(attempt, false);
  for (const RankRecord* rank : culprits_first(attempt)) {
    const bool guilty =
        std::find(attempt.culprits.begin(), attempt.culprits.end(), rank->rank) != attempt.culprits.end();
    (guilty ? culprits : others).add(*rank);
  }
  return {culprits.take(), others.take()};
}

}  // namespace distrun::report
