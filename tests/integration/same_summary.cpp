#include "same_summary.hpp"

#include <algorithm>
#include <regex>
#include <type_traits>

namespace distrun::testing {
namespace {

using fixtures::Row;

// Replaces numbers, addresses and temporary names, which differ between any two runs.
std::string without_numbers(const std::string& text) {
  static const std::regex places("(/[^/ :\"]+)*/dt-[A-Za-z0-9]+");
  static const std::regex ids("\\b[0-9a-f]{12}\\b");
  static const std::regex durations("[0-9]+(\\.[0-9]+)? ?(us|ms|s|min)\\b");
  static const std::regex addresses("0x[0-9a-f]+");
  static const std::regex numbers("[0-9]+");
  std::string plain = std::regex_replace(text, places, "PLACE");
  plain = std::regex_replace(plain, ids, "ID");
  plain = std::regex_replace(plain, durations, "TIME");
  plain = std::regex_replace(plain, addresses, "ADDRESS");
  return std::regex_replace(plain, numbers, "N");
}

// Drops the stack below the first line: that of a running process depends on the moment.
std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

class Difference {
 public:
  explicit Difference(std::vector<std::string>& found) : found_(found) {}
  template <class T>
  void expect(const std::string& what, const T& one, const T& other) {
    if (!(one == other)) found_.push_back("through the daemon it differs in " + what + shown(one, other));
  }

 private:
  template <class T>
  static std::string shown(const T& one, const T& other) {
    if constexpr (std::is_same_v<T, std::string>) return ": \"" + one + "\", \"" + other + "\"";
    if constexpr (std::is_arithmetic_v<T>) return ": " + std::to_string(one) + ", " + std::to_string(other);
    return "";
  }
  std::vector<std::string>& found_;
};

void compare_rank(Difference& difference, const Row& row, const RankResult& one, const RankResult& other) {
  const std::string what = row.test + " rank " + std::to_string(one.rank) + ": ";
  const bool is_certain =
      row.outcomes.empty() || row.outcomes.size() == 1 || !row.outcomes.at(static_cast<std::size_t>(one.rank)).empty();
  if (!is_certain) return;
  difference.expect(what + "outcome", one.outcome, other.outcome);
  if (one.outcome != "passed") return;
  difference.expect(what + "checks", one.checks, other.checks);
  difference.expect(what + "errors", one.error_types, other.error_types);
}

std::vector<std::string> kinds_of(const AttemptResult& attempt) {
  std::vector<std::string> kinds;
  for (const LeakResult& leak : attempt.leaks) kinds.push_back(leak.kind + (leak.removed ? " removed" : ""));
  return kinds;
}

void compare_attempt(Difference& difference, const Row& row, const AttemptResult& one, const AttemptResult& other) {
  const std::string what = row.test + " attempt " + std::to_string(one.n) + ": ";
  difference.expect(what + "kind", one.kind, other.kind);
  difference.expect(what + "verdict", one.verdict, other.verdict);
  difference.expect(what + "infra error", one.infra_error, other.infra_error);
  difference.expect(what + "number of ranks", one.ranks.size(), other.ranks.size());
  if (!row.more_leaks && !row.any_leaks) difference.expect(what + "leaks", kinds_of(one), kinds_of(other));
  if (row.who == fixtures::Who::Exactly && row.attempts.empty()) {
    difference.expect(what + "culprits", one.culprits, other.culprits);
    difference.expect(what + "phase", one.phase, other.phase);
  }
  if (row.outcomes.empty() || one.ranks.size() != other.ranks.size()) return;
  for (std::size_t i = 0; i < one.ranks.size(); ++i) compare_rank(difference, row, one.ranks[i], other.ranks[i]);
}

void compare_test(Difference& difference, const Row& row, const TestResult& one, const TestResult& other) {
  difference.expect(row.test + ": verdict", one.verdict, other.verdict);
  difference.expect(row.test + ": isolation", one.isolation, other.isolation);
  difference.expect(row.test + ": its reason", without_numbers(one.isolation_reason),
                    without_numbers(other.isolation_reason));
  difference.expect(row.test + ": number of attempts", one.attempts.size(), other.attempts.size());
  if (one.attempts.size() != other.attempts.size()) return;
  for (std::size_t i = 0; i < one.attempts.size(); ++i) {
    compare_attempt(difference, row, one.attempts[i], other.attempts[i]);
  }
}

}  // namespace

std::vector<std::string> unequal(const std::vector<Row>& rows, const Summary& one, const Summary& other) {
  std::vector<std::string> found;
  Difference difference(found);
  difference.expect("number of tests", one.tests.size(), other.tests.size());
  difference.expect("number of problems", one.problems.size(), other.problems.size());
  for (std::size_t i = 0; i < std::min(one.problems.size(), other.problems.size()); ++i) {
    difference.expect("phase of a problem", one.problems[i].phase, other.problems[i].phase);
    difference.expect("text of a problem", without_numbers(first_line(one.problems[i].text)),
                      without_numbers(first_line(other.problems[i].text)));
  }
  bool is_open = false;
  for (const Row& row : rows) {
    const TestResult* plain = one.find(row.test);
    const TestResult* through = other.find(row.test);
    is_open = is_open || !row.or_verdict.empty();
    if (plain == nullptr || through == nullptr) {
      difference.expect(row.test + ": being there", plain != nullptr, through != nullptr);
    } else if (row.or_verdict.empty()) {
      compare_test(difference, row, *plain, *through);
    }
  }
  if (!is_open) {
    difference.expect("exit code", one.exit_code, other.exit_code);
    difference.expect("totals", one.totals, other.totals);
  }
  return found;
}

}  // namespace distrun::testing
