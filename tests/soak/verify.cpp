#include "verify.hpp"

#include <algorithm>
#include <numeric>

#include "support/sandbox.hpp"

namespace distrun::soak {
namespace {

using fixtures::Blamed;
using fixtures::SoakDisturbance;
using fixtures::SoakOutcome;
using fixtures::Told;
using testing::AttemptResult;
using testing::LeakResult;
using testing::TestResult;

bool holds(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }
bool is_one_of(const std::string& name, const Texts& names) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

std::string list_of(const std::vector<int>& numbers) {
  std::string text = "{";
  for (const int number : numbers) text += (text.size() > 1 ? ", " : "") + std::to_string(number);
  return text + "}";
}

std::string blame_differs(const Case& played, Blamed blamed, std::vector<int> culprits) {
  std::sort(culprits.begin(), culprits.end());
  std::vector<int> all(static_cast<std::size_t>(played.world_size));
  std::iota(all.begin(), all.end(), 0);
  const std::string are = "culprits are " + list_of(culprits) + ", not ";
  switch (blamed) {
    case Blamed::Nobody: return culprits.empty() ? "" : are + "none";
    case Blamed::Culprit: return culprits == std::vector{played.culprit} ? "" : are + list_of({played.culprit});
    case Blamed::Somebody: break;
  }
  const bool some = !culprits.empty() && std::includes(all.begin(), all.end(), culprits.begin(), culprits.end());
  return some ? "" : are + "one or more of " + list_of(all);
}

void compare_leaks(Texts& wrong, const SoakOutcome& wanted, std::vector<LeakResult> leaks) {
  for (const fixtures::Left& left : wanted.left) {
    const auto found = std::find_if(leaks.begin(), leaks.end(), [&](const LeakResult& leak) {
      return leak.kind == left.kind && holds(leak.what, left.what) && leak.removed == left.removed;
    });
    if (found == leaks.end()) {
      wrong.push_back("no leak told: " + left.kind + " " + left.what);
    } else {
      leaks.erase(found);
    }
  }
  for (const LeakResult& leak : leaks) wrong.push_back("a leak that should not be: " + leak.kind + " " + leak.what);
}

void compare_attempt(Texts& wrong, const Case& played, const SoakOutcome& wanted, const AttemptResult& attempt,
                     double scale) {
  const auto ranks = static_cast<int>(attempt.ranks.size());
  if (ranks != played.world_size) wrong.push_back("there were " + std::to_string(ranks) + " ranks");
  const std::string blame = blame_differs(played, wanted.blamed, attempt.culprits);
  if (!blame.empty()) wrong.push_back(blame);
  compare_leaks(wrong, wanted, attempt.leaks);
  const int bound_ms = fixtures::soak_fault(played.fault).hangs ? fixtures::kSoakBoundMs : 0;
  const auto latest = static_cast<std::int64_t>((bound_ms + fixtures::kLatestEndMs) * scale);
  if (attempt.duration_ms > latest) {
    wrong.push_back("it took " + std::to_string(attempt.duration_ms) + " ms, later than " + std::to_string(latest));
  }
}

const Case* find_case(const Invocation& invocation, const std::string& id) {
  for (const Case& each : invocation.cases) {
    if (each.id() == id) return &each;
  }
  return nullptr;
}

class Checker {
 public:
  Checker(const Invocation& invocation, const Seen& seen, double scale)
      : invocation_(invocation),
        seen_(seen),
        scale_(scale),
        disturbance_(fixtures::soak_disturbance(seen.struck ? invocation.disturbs : fixtures::Disturbs::Nothing)) {}

  std::vector<Checked> check() {
    if (disturbance_.told == Told::ByEvents && !seen_.summary) {
      check_events();
    } else {
      check_summary();
    }
    check_run();
    const std::string row = disturbance_.name + (invocation_.through_daemon ? ", with --daemon" : "");
    checked_.push_back({row, invocation_.isolation, "", std::move(wrong_)});
    return std::move(checked_);
  }

 private:
  void check_events();
  void check_summary();
  void check_problems();
  void check_run();
  void check_exit_code();
  void check_daemon();
  bool spoiled(const std::string& verdict);
  void enter(const Case& played, Texts wrong) {
    checked_.push_back({played.fault, invocation_.isolation, played.id(), std::move(wrong)});
  }

  const Invocation& invocation_;
  const Seen& seen_;
  double scale_;
  const SoakDisturbance& disturbance_;
  std::vector<Checked> checked_;
  Texts wrong_;  // of the run as a whole
  Texts verdicts_;
  int spoiled_ = 0;
  bool has_problem_ = false;
};

// Returns whether the disturbance explains this verdict.
bool Checker::spoiled(const std::string& verdict) {
  if (disturbance_.spoils.empty() || verdict != disturbance_.spoils) return false;
  return ++spoiled_ <= invocation_.jobs || disturbance_.spoils_all;
}

void Checker::check_events() {
  for (const auto& [id, verdict] : seen_.verdicts) {
    const Case* played = find_case(invocation_, id);
    if (played == nullptr) {
      wrong_.push_back(id + " was not asked for");
      continue;
    }
    const auto& wanted = fixtures::soak_outcome(fixtures::soak_fault(played->fault), invocation_.isolation);
    if (spoiled(verdict)) continue;
    enter(*played, is_one_of(verdict, wanted.verdicts) ? Texts{} : Texts{"verdict is " + verdict});
  }
}

void Checker::check_problems() {
  for (const testing::ProblemResult& problem : seen_.summary->problems) {
    has_problem_ = true;
    if (problem.phase != disturbance_.problem) {
      wrong_.push_back("problem in " + problem.phase + ": " + problem.text);
    }
  }
}

void Checker::check_summary() {
  if (!seen_.summary) return wrong_.push_back(seen_.no_summary);
  check_problems();
  for (const TestResult& test : seen_.summary->tests) {
    const Case* played = find_case(invocation_, test.id);
    if (played == nullptr) {
      wrong_.push_back(test.id + " was not asked for");
      continue;
    }
    verdicts_.push_back(test.verdict);
    if (!spoiled(test.verdict)) enter(*played, wrong_with_test(*played, invocation_.isolation, test, scale_));
  }
  const bool may_lack = disturbance_.cuts_short || (has_problem_ && disturbance_.problem == "load");
  for (const Case& each : invocation_.cases) {
    if (!may_lack && seen_.summary->find(each.id()) == nullptr) enter(each, {"the summary has no such test"});
  }
}

void Checker::check_run() {
  if (seen_.out_of_time) wrong_.push_back("distrun did not end in time");
  for (const std::string& left : seen_.remains) wrong_.push_back("left: " + left);
  if (!holds(seen_.console, disturbance_.console)) {
    wrong_.push_back("nothing on the console says \"" + disturbance_.console + "\"");
  }
  check_exit_code();
  if (invocation_.through_daemon) check_daemon();
}

void Checker::check_daemon() {
  if (seen_.served != fixtures::kSoakServed) {
    wrong_.push_back("the daemon's next run came to " + std::to_string(seen_.served.value_or(-1)) + ": " +
                     seen_.console_served);
  }
  if (seen_.daemon_end != 0) {
    wrong_.push_back("the daemon ended with " + std::to_string(seen_.daemon_end.value_or(-1)));
  }
}

void Checker::check_exit_code() {
  int wanted = 0;
  for (const std::string& verdict : verdicts_) wanted = std::max(wanted, fixtures::exit_code_alone(verdict));
  if (has_problem_) wanted = 3;
  if (disturbance_.exit_code) wanted = *disturbance_.exit_code;
  if (invocation_.through_daemon && disturbance_.client_exit_code) wanted = *disturbance_.client_exit_code;
  if (seen_.exit_code == wanted) return;
  wrong_.push_back("exit code " + std::to_string(seen_.exit_code) + ", signal " + std::to_string(seen_.signal) +
                   ", not " + std::to_string(wanted));
}

}  // namespace

Texts wrong_with_test(const Case& played, const std::string& isolation, const TestResult& test, double scale) {
  const SoakOutcome& wanted = fixtures::soak_outcome(fixtures::soak_fault(played.fault), isolation);
  Texts wrong;
  if (!is_one_of(test.verdict, wanted.verdicts)) {
    wrong.push_back("verdict is " + test.verdict + ", not " + wanted.verdicts.front());
  }
  for (const std::string& part : wanted.message) {
    if (!holds(test.message, part)) wrong.push_back("the message lacks \"" + part + "\"");
  }
  if (test.attempts.size() != 1) {
    wrong.push_back("there were " + std::to_string(test.attempts.size()) + " attempts");
  } else {
    compare_attempt(wrong, played, wanted, test.attempts.front(), scale);
  }
  if (!wrong.empty()) wrong.push_back("it says: " + test.verdict + ", " + test.message);
  return wrong;
}

std::vector<Checked> check(const Invocation& invocation, const Seen& seen, double scale) {
  return Checker(invocation, seen, scale).check();
}

}  // namespace distrun::soak
