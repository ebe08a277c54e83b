#include <distrun/runner/report/text/by_urgency.hpp>

#include <algorithm>

namespace distrun::report {
namespace {

using runner::Verdict;

constexpr int kNotTold = 7;

int urgency(Verdict verdict) noexcept {
  switch (verdict) {
    case Verdict::Crash: return 0;
    case Verdict::Deadlock: return 1;
    case Verdict::Fail: return 2;
    case Verdict::Timeout: return 3;
    case Verdict::InfraError: return 4;
    case Verdict::Leak: return 5;
    case Verdict::Flaky: return 6;
    case Verdict::Pass:
    case Verdict::Skip:
    case Verdict::Cancelled: return kNotTold;
  }
  return kNotTold;
}

}  // namespace

std::vector<const runner::TestRecord*> tests_by_urgency(const runner::RunRecord& run) {
  std::vector<const runner::TestRecord*> tests;
  for (const runner::TestRecord& test : run.tests) {
    if (urgency(test.verdict) < kNotTold) tests.push_back(&test);
  }
  std::stable_sort(tests.begin(), tests.end(), [](const auto* left, const auto* right) {
    return urgency(left->verdict) < urgency(right->verdict);
  });
  return tests;
}

}  // namespace distrun::report
