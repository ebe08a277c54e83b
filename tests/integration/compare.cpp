#include "compare.hpp"

#include <algorithm>
#include <numeric>
#include <regex>
#include <set>
#include <sstream>

#include "support/sandbox.hpp"

namespace distrun::testing {
namespace {

using fixtures::Row;

constexpr std::size_t kMessageSizeMax = 4096;
constexpr std::size_t kErrorsMax = 100;

std::string quoted(const std::string& text) {
  return "\"" + (text.size() > 300 ? text.substr(0, 300) + " ..." : text) + "\"";
}

bool holds(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

std::string list_of(const std::vector<int>& numbers) {
  std::ostringstream out;
  out << '{';
  for (std::size_t i = 0; i < numbers.size(); ++i) out << (i > 0 ? ", " : "") << numbers[i];
  out << '}';
  return out.str();
}

// Collects sentences about one test.
class Findings {
 public:
  void expect(bool holds, const std::string& sentence) {
    if (!holds) found_.push_back(sentence);
  }
  template <class T>
  void equal(const std::string& what, const T& is, const T& wanted) {
    std::ostringstream out;
    out << what << " is " << is << ", not " << wanted;
    expect(is == wanted, out.str());
  }
  Texts take() { return std::move(found_); }

 private:
  Texts found_;
};

// Returns the outcome that a row requires of a rank; empty: any.
std::string outcome_wanted(const Row& row, int rank) {
  if (row.outcomes.empty()) return "";
  if (row.outcomes.size() == 1) return row.outcomes.front();
  return row.outcomes[static_cast<std::size_t>(rank)];
}

void compare_message(Findings& findings, const Row& row, const TestResult& test) {
  for (const std::string& part : row.message) {
    findings.expect(holds(test.message, part), "message " + quoted(test.message) + " lacks " + quoted(part));
  }
}

void compare_culprits(Findings& findings, const Row& row, const AttemptResult& attempt) {
  std::vector<int> culprits = attempt.culprits;
  std::sort(culprits.begin(), culprits.end());
  const bool some =
      !culprits.empty() && std::includes(row.culprits.begin(), row.culprits.end(), culprits.begin(), culprits.end());
  findings.expect(row.who == fixtures::Who::Some ? some : culprits == row.culprits,
                  "culprits are " + list_of(culprits) + ", not " + (row.who == fixtures::Who::Some ? "some of " : "") +
                      list_of(row.culprits));
}

// Checks that the bad end of a rank that is not a culprit names the rank that caused it.
void compare_consequence(Findings& findings, const Row& row, const RankResult& rank) {
  const bool culprit = std::find(row.culprits.begin(), row.culprits.end(), rank.rank) != row.culprits.end();
  if (row.because_of < 0 || culprit) return;
  if (rank.outcome != "failed" && rank.outcome != "killed by us") return;
  findings.equal("because_of of rank " + std::to_string(rank.rank), rank.because_of, row.because_of);
}

void compare_ranks(Findings& findings, const Row& row, const AttemptResult& attempt) {
  findings.equal<std::size_t>("number of ranks", attempt.ranks.size(), static_cast<std::size_t>(row.world_size));
  if (static_cast<int>(attempt.ranks.size()) != row.world_size) return;
  for (const RankResult& rank : attempt.ranks) {
    const std::string name = "rank " + std::to_string(rank.rank);
    const std::string wanted = outcome_wanted(row, rank.rank);
    findings.expect(wanted.empty() || rank.outcome == wanted, name + " " + rank.outcome + ", not " + wanted);
    compare_consequence(findings, row, rank);
  }
  if (!row.error_type.empty() && !attempt.culprits.empty()) {
    const RankResult& culprit =
        attempt.ranks[static_cast<std::size_t>(attempt.culprits.front()) % attempt.ranks.size()];
    const std::string type = culprit.error_types.empty() ? "none" : culprit.error_types.front();
    findings.equal("type of the first error", type, row.error_type);
  }
}

void compare_leaks(Findings& findings, const Row& row, const AttemptResult& attempt) {
  if (row.any_leaks) return;
  std::vector<LeakResult> unexplained = attempt.leaks;
  for (const fixtures::Left& left : row.leaks) {
    const auto match = std::find_if(unexplained.begin(), unexplained.end(), [&](const auto& leak) {
      return leak.kind == left.kind && holds(leak.what, left.what) && leak.removed == left.removed;
    });
    findings.expect(match != unexplained.end(),
                    "no leak: " + left.kind + " " + left.what + (left.removed ? ", removed" : ", not removed"));
    if (match != unexplained.end()) unexplained.erase(match);
  }
  if (row.more_leaks) return;
  for (const LeakResult& leak : unexplained) {
    findings.expect(false, "leak that should not be: " + leak.kind + " " + quoted(leak.what) +
                               (leak.removed ? ", removed" : ", not removed"));
  }
}

void compare_time(Findings& findings, const Row& row, const AttemptResult& attempt, std::int64_t test_duration_ms) {
  const auto ms = [](int length) { return scaled(milliseconds(length)).count(); };
  const std::int64_t duration = attempt.duration_ms >= 0 ? attempt.duration_ms : test_duration_ms;
  const std::int64_t earliest = row.bound_ms > 0 ? ms(row.bound_ms) : row.earliest_ms;
  const int latest_ms = row.bound_ms > 0 ? row.bound_ms + fixtures::kLatestEndMs : row.latest_ms;
  const std::int64_t latest = at_latest(milliseconds(latest_ms)).count();
  findings.expect(duration >= earliest,
                  "ended after " + std::to_string(duration) + " ms, before " + std::to_string(earliest));
  findings.expect(duration <= latest,
                  "ended after " + std::to_string(duration) + " ms, later than " + std::to_string(latest));
}

void compare_output(Findings& findings, const Row& row, const AttemptResult& attempt) {
  for (const fixtures::Printed& printed : row.printed) {
    if (printed.rank >= static_cast<int>(attempt.ranks.size())) continue;
    const RankResult& rank = attempt.ranks[static_cast<std::size_t>(printed.rank)];
    const std::string& text = printed.stream == "stdout" ? rank.out : rank.err;
    findings.expect(holds(text, printed.text), printed.stream + " of rank " + std::to_string(printed.rank) + " (" +
                                                   std::to_string(text.size()) + " bytes) lacks " +
                                                   quoted(printed.text));
    const std::int64_t bytes = printed.stream == "stdout" ? rank.out_bytes : rank.err_bytes;
    findings.expect(bytes >= printed.bytes_min,
                    printed.stream + " is said to have " + std::to_string(bytes) + " bytes");
    // 1 MiB of each stream is kept, and a line states what is left out.
    constexpr std::size_t kKept = 1 << 20, kLine = 100;
    findings.expect(text.size() <= kKept + kLine && (bytes < 2 * std::int64_t{kKept} || text.size() >= kKept),
                    std::to_string(text.size()) + " bytes of " + printed.stream + " are kept");
  }
}

const SnapshotResult* timeout_snapshot(const AttemptResult& attempt) {
  for (const SnapshotResult& snapshot : attempt.snapshots) {
    if (snapshot.why == "timeout") return &snapshot;
  }
  return nullptr;
}

// Checks the evidence about a live rank: the kernel and the probe, or the rank's listener, must have reported its
// state; for a culprit, a reason why they could not may stand instead.
void compare_evidence(Findings& findings, const Row& row, const SnapshotResult& snapshot, int rank) {
  const SeenProcess* seen = snapshot.find(rank);
  const std::string name = "rank " + std::to_string(rank);
  const bool is_culprit = std::find(row.culprits.begin(), row.culprits.end(), rank) != row.culprits.end();
  if (seen == nullptr) return findings.expect(false, name + " was not looked at");
  const auto answered = [&](const char* source) {
    return std::find(seen->answered.begin(), seen->answered.end(), source) != seen->answered.end();
  };
  findings.expect(answered("kernel"), name + ": the kernel has not answered");
  if (row.unseen.empty() || !is_culprit) {
    const bool has_stack = seen->threads_with_stacks > 0;
    findings.expect(has_stack != row.threads_have_ended, name + (has_stack ? " has a stack" : " has no stack"));
    return;
  }
  const bool told = std::any_of(seen->not_answered.begin(), seen->not_answered.end(),
                                [&](const std::string& why) { return holds(why, row.unseen); });
  findings.expect(told || holds(snapshot.text, row.unseen), name + ": nothing says " + quoted(row.unseen));
}

void compare_snapshots(Findings& findings, const Row& row, const AttemptResult& attempt) {
  if (attempt.verdict != "timeout") return;
  const SnapshotResult* snapshot = timeout_snapshot(attempt);
  if (snapshot == nullptr) return findings.expect(false, "no snapshot of the ranks was taken");
  for (const std::string& text : row.seen) {
    findings.expect(holds(snapshot->text, text), "the look lacks " + quoted(text) + ":\n" + snapshot->text);
  }
  for (const RankResult& rank : attempt.ranks) {
    if (rank.outcome == "timed out" && rank.pid > 0) compare_evidence(findings, row, *snapshot, rank.rank);
  }
}

// Each hang of ranks must have its cause in the table, and the cause must blame the culprits.
void compare_hang(Findings& findings, const Row& row, const AttemptResult& attempt) {
  if (attempt.verdict != "timeout" && attempt.verdict != "deadlock") return;
  const bool is_wanted = std::find(row.hang.begin(), row.hang.end(), attempt.hang) != row.hang.end();
  findings.expect(row.hang.empty() ? attempt.hang.empty() : is_wanted,
                  "the cause of the hang is " + quoted(attempt.hang) + ", not " +
                      quoted(row.hang.empty() ? "" : row.hang.front()) + ": " + quoted(attempt.message));
  for (const int rank : attempt.hang_ranks) {
    const bool is_culprit = std::find(row.culprits.begin(), row.culprits.end(), rank) != row.culprits.end();
    findings.expect(is_culprit, "the cause of the hang blames rank " + std::to_string(rank));
  }
}

// Checks that every rank of a passed test has passed and checked something, unless it is declared to die.
void compare_checks(Findings& findings, const AttemptResult& attempt) {
  if (attempt.verdict != "pass" && attempt.verdict != "leak") return;
  for (const RankResult& rank : attempt.ranks) {
    if (rank.outcome != "passed") continue;
    findings.expect(rank.checks > 0, "rank " + std::to_string(rank.rank) + " checked nothing");
  }
}

void compare_attempts(Findings& findings, const Row& row, const TestResult& test) {
  const Texts wanted = row.attempts.empty() ? Texts{test.verdict} : row.attempts;  // compared elsewhere
  findings.equal("number of attempts", test.attempts.size(), wanted.size());
  for (std::size_t i = 0; i < std::min(wanted.size(), test.attempts.size()); ++i) {
    findings.equal("verdict of attempt " + std::to_string(i + 1), test.attempts[i].verdict, wanted[i]);
  }
}

void compare_isolation(Findings& findings, const Row& row, const TestResult& test, const std::string& isolation) {
  findings.equal("isolation", test.isolation, row.isolation_used.empty() ? isolation : row.isolation_used);
  findings.expect(holds(test.isolation_reason, row.isolation_reason),
                  "isolation_reason " + quoted(test.isolation_reason) + " lacks " + quoted(row.isolation_reason));
}

// ---- within one summary

void check_ranks(Findings& findings, const std::string& id, const AttemptResult& attempt, bool one_process) {
  std::set<int> pids;
  const bool is_host = attempt.ranks.size() == 1 && attempt.ranks.front().rank == -1;
  for (std::size_t i = 0; i < attempt.ranks.size(); ++i) {
    const RankResult& rank = attempt.ranks[i];
    findings.expect(is_host || rank.rank == static_cast<int>(i), id + ": ranks are not in order");
    // A rank that never began: its zygote was killed, or the run cancelled.
    const bool is_none = rank.pid <= 0 && (attempt.verdict == "infra-error" || attempt.verdict == "cancelled");
    findings.expect(rank.pid > 0 || is_none, id + ": rank " + std::to_string(i) + " has no pid");
    findings.expect(is_none || pids.insert(rank.pid).second || one_process, id + ": two ranks have one pid");
    findings.expect(rank.error_texts.size() <= kErrorsMax, id + ": too many errors are kept");
    findings.expect(!(rank.outcome == "signaled" && rank.signal == 0), id + ": a signaled rank has no signal");
  }
  for (const int culprit : attempt.culprits) {
    if (is_host && culprit == -1) continue;
    findings.expect(culprit >= 0 && culprit < static_cast<int>(attempt.ranks.size()),
                    id + ": culprit " + std::to_string(culprit) + " is no rank");
  }
}

void check_test(Findings& findings, const TestResult& test) {
  const auto one_line = [&](const std::string& message) {
    findings.expect(message.find_first_of("\n\r") == std::string::npos, test.id + ": the message has several lines");
    findings.expect(message.size() <= kMessageSizeMax,
                    test.id + ": the message has " + std::to_string(message.size()) + " bytes");
  };
  one_line(test.message);
  for (const AttemptResult& attempt : test.attempts) {
    one_line(attempt.message);
    findings.expect(attempt.verdict != "pass" || attempt.message.empty(),
                    test.id + ": an attempt that passed has the message " + quoted(attempt.message));
    findings.expect(attempt.verdict == "pass" || !attempt.message.empty(),
                    test.id + ": verdict " + attempt.verdict + " without a message");
    check_ranks(findings, test.id, attempt, test.isolation == "threads");
  }
}

}  // namespace

std::string without_appeared(const std::string& text) {
  // Includes the escape sequence at its beginning, if there are colours.
  static const std::regex note("(\x1b\\[[0-9;]*m)?note: (a new name|[0-9]+ new names) appeared during the run[^\n]*\n");
  return std::regex_replace(text, note, "");
}

Texts differences(const Row& row, const TestResult& test, const std::string& isolation) {
  Findings findings;
  const bool as_right = !row.or_verdict.empty() && test.verdict == row.or_verdict;
  findings.expect(as_right || test.verdict == row.verdict,
                  "verdict is " + test.verdict + ", not " + row.verdict + ": " + quoted(test.message));
  compare_message(findings, row, test);
  compare_isolation(findings, row, test, isolation);
  if (row.early) {
    findings.expect(test.attempts.empty(), "ranks were started");
    return findings.take();
  }
  compare_attempts(findings, row, test);
  if (test.attempts.empty()) return findings.take();
  const AttemptResult& attempt = test.attempts.front();
  if (row.attempts.empty()) {
    compare_culprits(findings, row, attempt);
    compare_ranks(findings, row, attempt);
    compare_hang(findings, row, attempt);
    compare_leaks(findings, row, attempt);
    compare_checks(findings, attempt);
    compare_output(findings, row, attempt);
    compare_snapshots(findings, row, attempt);
  }
  if (!as_right || row.bound_ms == 0) compare_time(findings, row, attempt, test.duration_ms);
  if (!row.phase.empty()) findings.equal("phase", attempt.phase, row.phase);
  findings.expect(attempt.infra_error.empty(), "infra error: " + attempt.infra_error);
  return findings.take();
}

Texts problem_differences(const fixtures::Group& group, const Summary& summary) {
  Findings findings;
  if (group.problem.phase.empty()) {
    for (const ProblemResult& problem : summary.problems) {
      findings.expect(false, "problem in " + problem.phase + ": " + quoted(problem.text));
    }
    return findings.take();
  }
  findings.equal<std::size_t>("number of problems", summary.problems.size(), 1);
  findings.equal<std::size_t>("number of tests", summary.tests.size(), group.rows.size());
  if (summary.problems.empty()) return findings.take();
  const ProblemResult& problem = summary.problems.front();
  findings.equal("phase of the problem", problem.phase, group.problem.phase);
  findings.expect(holds(problem.plugin, group.plugin), "problem is about " + quoted(problem.plugin));
  findings.expect(!problem.text.empty(), "the problem has no text");
  for (const std::string& part : group.problem.text) {
    const std::string shown = problem.plugin + ": " + problem.text;
    findings.expect(holds(shown, part), "problem " + quoted(shown) + " lacks " + quoted(part));
  }
  return findings.take();
}

Texts contradictions(const Summary& summary) {
  Findings findings;
  findings.equal<std::string>("schema", summary.schema, "distrun.summary/1");
  findings.expect(!summary.run_id.empty(), "there is no run id");
  std::map<std::string, int> counted;
  std::set<std::string> ids;
  for (const TestResult& test : summary.tests) {
    ++counted[test.verdict];
    findings.expect(ids.insert(test.id).second, "two tests have the id " + test.id);
    check_test(findings, test);
  }
  for (const auto& [verdict, count] : counted) {
    const auto total = summary.totals.find(verdict);
    findings.equal("total of " + verdict, total == summary.totals.end() ? 0 : total->second, count);
  }
  return findings.take();
}

Texts unprintable(const std::string& console) {
  Findings findings;
  for (const char c : console) {
    const auto byte = static_cast<unsigned char>(c);
    if ((byte >= 32 && byte != 127) || c == '\n' || c == '\t') continue;
    findings.expect(false, "the console got the byte " + std::to_string(byte));
    break;
  }
  // The JSON parser is strict about UTF-8.
  std::string text = console;
  std::replace_if(
      text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) < 32 || c == '"' || c == '\\'; },
      ' ');
  findings.expect(wrong_with_json("\"" + text + "\"").empty(), "the console got invalid UTF-8");
  return findings.take();
}

Texts wrong_with_leaks(const TestResult& test) {
  Findings findings;
  for (const AttemptResult& attempt : test.attempts) {
    for (const LeakResult& leak : attempt.leaks) {
      if (leak.kind == "process") {
        const std::size_t number = leak.what.find_first_of("0123456789");
        const int pid = number == std::string::npos ? 0 : std::atoi(leak.what.c_str() + number);
        findings.expect(pid > 0, "a leaked process without a pid: " + quoted(leak.what));
        findings.expect(!leak.removed || !is_alive(pid), leak.what + " is alive");
        continue;
      }
      if (leak.what.starts_with("System V ")) continue;                  // has no path
      if (leak.kind == "descriptor" || leak.kind == "thread") continue;  // gone with its process
      const std::size_t slash = leak.what.find('/');
      const std::string path = slash == std::string::npos ? "" : leak.what.substr(slash);
      findings.expect(!path.empty(), "a leak without a path: " + quoted(leak.what));
      findings.expect(exists(path) != leak.removed, path + (leak.removed ? " is still there" : " has gone"));
    }
  }
  return findings.take();
}

}  // namespace distrun::testing
