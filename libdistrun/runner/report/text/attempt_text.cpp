#include <distrun/runner/report/text/attempt_text.hpp>

#include <algorithm>

#include <distrun/common/base/rank_hosts.hpp>
#include <distrun/common/base/text.hpp>
#include <distrun/runner/record/describe.hpp>
#include <distrun/runner/record/doctor/cause_text.hpp>
#include <distrun/runner/report/text/excerpt.hpp>
#include <distrun/runner/report/text/findings.hpp>
#include <distrun/runner/report/text/snapshot_text.hpp>

namespace distrun::report {
namespace {

using runner::OutcomeKind;
using runner::RankError;

constexpr std::size_t kLinesMax = 40;    // of one error, stack or note
constexpr std::size_t kErrorsMax = 5;    // of one finding
constexpr std::size_t kFindingsMax = 8;  // culprits shown in full
constexpr std::size_t kOthersMax = 20;
constexpr std::size_t kLeaksMax = 20;
constexpr std::size_t kCausesMax = 4;  // of a hang, after the first one
constexpr char kMore[] = "and more; see the reports for all\n";

// How an attempt is shown.
struct Shown {
  const Paint& paint;
  base::RankHosts hosts;
};

std::string place_of(const RankError& error) {
  if (error.file.empty()) return "";
  std::string place = base::one_line(error.file, 300);
  if (error.line > 0) place += ":" + std::to_string(error.line);
  return place;
}

void add_lines(std::string& out, const char* indent, std::string_view text) {
  for (const std::string& line : excerpt_lines(text, kLinesMax)) {
    out.append(line.empty() ? "" : indent).append(line).append("\n");
  }
}

// If there is a snapshot of all exceptions, it shows their stacks, and equal ones once.
bool has_look_at_exceptions(const runner::AttemptRecord& attempt) {
  return std::any_of(attempt.snapshots.begin(), attempt.snapshots.end(),
                     [](const runner::Snapshot& snapshot) { return snapshot.kind == runner::SnapshotKind::Exception; });
}

// The first line of the text is appended to the last line of `out`.
void add_error(std::string& out, const RankError& error, bool with_stack, const Shown& shown) {
  const std::vector<std::string> lines = excerpt_lines(error.text, kLinesMax);
  out += shown.paint(Style::Bold, base::one_line(error.type));
  if (!lines.empty()) out += ": " + lines.front();
  if (error.because_of >= 0) {
    out += " (follows from " + shown.hosts.label(error.because_of) + ")";
  }
  out += '\n';
  for (std::size_t i = 1; i < lines.size(); ++i) out += "    " + lines[i] + "\n";
  const std::string place = place_of(error);
  if (!place.empty()) out += "    at " + place + "\n";
  if (with_stack) add_lines(out, "    ", error.stack);
}

// A crash is shown by the outcome, and its stack by the snapshot.
void add_errors(std::string& out, const std::vector<RankError>& errors, std::size_t from, bool with_stacks,
                const Shown& shown) {
  for (std::size_t i = from; i < errors.size() && i < kErrorsMax; ++i) {
    if (errors[i].is_crash) continue;
    out += i == 0 ? "  " : "  also ";
    add_error(out, errors[i], with_stacks, shown);
  }
  if (errors.size() > kErrorsMax) {
    out += "  and " + std::to_string(errors.size() - kErrorsMax) + " more errors\n";
  }
}

void add_notes(std::string& out, const std::vector<wire::KeyValue>& notes) {
  for (const wire::KeyValue& note : notes) {
    const std::vector<std::string> lines = excerpt_lines(note.value, kLinesMax);
    out += "  " + base::one_line(note.key) + ":";
    if (lines.size() == 1) out += " " + lines.front();
    out += '\n';
    if (lines.size() > 1) add_lines(out, "    ", note.value);
  }
}

// "failed" says less than the error that caused it, so the error replaces it.
bool error_is_the_story(const Finding& finding) {
  return finding.sample->outcome.kind == OutcomeKind::Failed && !finding.sample->errors.empty();
}

void add_culprit(std::string& out, const Finding& finding, bool with_stacks, const Shown& shown) {
  out += shown.paint(Style::Bad, shown.hosts.label(finding.ranks)) + ": ";
  const bool starts_with_error = error_is_the_story(finding);
  if (starts_with_error) {
    add_error(out, finding.sample->errors.front(), with_stacks, shown);
  } else {
    out += finding.story + "\n";
  }
  add_errors(out, finding.sample->errors, starts_with_error ? 1 : 0, with_stacks, shown);
  add_notes(out, finding.sample->notes);
}

void add_in_one_line(std::string& out, const Finding& finding, const Shown& shown) {
  out += shown.hosts.label(finding.ranks) + ": ";
  if (!error_is_the_story(finding)) out += finding.story;
  if (!finding.sample->errors.empty() && !finding.sample->errors.front().is_crash) {
    const RankError& error = finding.sample->errors.front();
    const std::string place = place_of(error);
    if (!error_is_the_story(finding)) out += "; ";
    out += base::one_line(error.type) + ": " + base::one_line(error.text);
    if (!place.empty()) out += " (" + place + ")";
  }
  out += '\n';
}

std::string leak_name(const runner::Leak& leak) {
  const std::string kind = name_of(leak.kind);
  const std::string what = base::one_line(leak.what, 300);
  return what.starts_with(kind) ? what : kind + " " + what;
}

void add_leaks(std::string& out, const std::vector<runner::Leak>& leaks, const Paint& paint) {
  for (std::size_t i = 0; i < leaks.size() && i < kLeaksMax; ++i) {
    out += "left behind: " + leak_name(leaks[i]);
    out += leaks[i].removed ? " (removed)\n" : " (" + paint(Style::Bad, "still there") + ")\n";
  }
  if (leaks.size() > kLeaksMax) {
    out += "left behind: " + std::to_string(leaks.size() - kLeaksMax) + " more\n";
  }
}

// What the message does not say of why the attempt hung: the chain of waits, where to look, and further causes. The
// message says nothing of a cause that is unknown; what the rank does may still help.
void add_hang(std::string& out, const std::vector<runner::HangCause>& hang) {
  const bool is_known = hang.front().kind != runner::HangKind::Unknown;
  if (!is_known && hang.front().place.file.empty()) return;
  if (!is_known) out += runner::verdict_text(hang.front()) + "\n";
  const std::string chain = runner::chain_text(hang.front());
  if (!chain.empty()) out += chain + "\n";
  out += runner::look_text(hang.front()) + "\n";
  for (std::size_t i = 1; i < hang.size() && i <= kCausesMax; ++i)
    out += "also " + runner::verdict_text(hang[i]) + "\n";
  if (hang.size() > kCausesMax + 1) out += kMore;
}

// The message says what a rank waited in, and that it timed out.
bool is_told_by_hang(const Finding& finding) {
  const runner::RankRecord& rank = *finding.sample;
  const bool is_ended = rank.outcome.kind == OutcomeKind::TimedOut || rank.outcome.kind == OutcomeKind::KilledByUs;
  return is_ended && rank.errors.empty() && rank.notes.empty();
}

void add_culprits(std::string& out, const std::vector<Finding>& culprits, bool with_stacks, const Shown& shown) {
  for (std::size_t i = 0; i < culprits.size() && i < kFindingsMax + kOthersMax; ++i) {
    if (i < kFindingsMax) {
      add_culprit(out, culprits[i], with_stacks, shown);
    } else {
      add_in_one_line(out, culprits[i], shown);
    }
  }
  if (culprits.size() > kFindingsMax + kOthersMax) out += kMore;
}

void add_others(std::string& out, const std::vector<Finding>& others, const Shown& shown) {
  for (std::size_t i = 0; i < others.size() && i < kOthersMax; ++i) {
    add_in_one_line(out, others[i], shown);
  }
  if (others.size() > kOthersMax) out += kMore;
}

// Shows the ranks at the timeout, crash or exception. Snapshots on request were shown at once.
void add_snapshots(std::string& out, const std::vector<runner::Snapshot>& snapshots, const Paint& paint) {
  for (const runner::Snapshot& snapshot : snapshots) {
    const bool told = snapshot.kind != runner::SnapshotKind::Slow && snapshot.kind != runner::SnapshotKind::Asked;
    if (told && !snapshot.text.empty()) out += "\n" + painted(snapshot.text, paint);
  }
}

}  // namespace

std::string attempt_text(const runner::AttemptRecord& attempt, const Paint& paint) {
  Findings findings = findings_of(attempt);
  std::string out;
  if (!attempt.hang.empty()) add_hang(out, attempt.hang);
  if (runner::is_explained_hang(attempt)) {
    std::erase_if(findings.culprits, is_told_by_hang);
    std::erase_if(findings.others, is_told_by_hang);
  }
  if (!attempt.infra_error.empty() && attempt.infra_error != attempt.message) {
    add_lines(out, "", attempt.infra_error);
  }
  const Shown shown{paint, hosts_of(attempt)};
  add_culprits(out, findings.culprits, !has_look_at_exceptions(attempt), shown);
  add_others(out, findings.others, shown);
  add_leaks(out, attempt.leaks, paint);
  add_snapshots(out, attempt.snapshots, paint);
  return out;
}

std::string message_and_text(const runner::AttemptRecord& attempt, const std::string& otherwise, const Paint& paint) {
  const std::string& message = attempt.message.empty() ? otherwise : attempt.message;
  std::string out;
  if (!runner::is_one_action(attempt)) {  // else the text below contains it
    for (const std::string& line : excerpt_lines(message, kLinesMax)) {
      out += paint(Style::Bold, line) + "\n";
    }
  }
  return out + attempt_text(attempt, paint);
}

std::string indented(std::string_view text, std::string_view indent) {
  std::string out;
  for (const std::string& line : base::split_lines(text)) {
    if (!line.empty()) out.append(indent).append(line);
    out += '\n';
  }
  return out;
}

}  // namespace distrun::report
