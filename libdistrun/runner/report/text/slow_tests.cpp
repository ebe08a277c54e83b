#include <distrun/runner/report/text/slow_tests.hpp>

#include <algorithm>
#include <vector>

#include <distrun/common/base/text.hpp>

namespace distrun::report {
namespace {

using base::Nanoseconds;

constexpr std::size_t kTimeWidth = 12;  // as in the lines above it

// The interval from the start of the last body to the end of the last body in one attempt.
struct Bodies {
  Nanoseconds began{};
  Nanoseconds ended{};
};

Bodies bodies_of(const runner::AttemptRecord& attempt) {
  Bodies bodies;
  for (const runner::RankRecord& rank : attempt.ranks) {
    if (rank.body_began.count() <= 0) continue;
    bodies.began = std::max(bodies.began, rank.body_began);
    bodies.ended = std::max(bodies.ended, rank.body_ended.count() > 0 ? rank.body_ended : rank.ended);
  }
  bodies.ended = std::max(bodies.ended, bodies.began);
  return bodies;
}

// Returns "  (3.1 ms before the bodies, 1.2 s in the bodies, 8.4 ms after)"; empty if no body began.
std::string division_of(const runner::TestRecord& test) {
  Nanoseconds in{};
  Nanoseconds after{};
  for (const runner::AttemptRecord& attempt : test.attempts) {
    const Bodies bodies = bodies_of(attempt);
    if (bodies.began.count() == 0) continue;
    in += bodies.ended - bodies.began;
    after += std::max(attempt.duration - bodies.ended, Nanoseconds(0));
  }
  if (in.count() == 0) return "";
  const Nanoseconds before = std::max(test.duration - in - after, Nanoseconds(0));
  std::string text = "  (";
  if (test.attempts.size() > 1) text += std::to_string(test.attempts.size()) + " attempts: ";
  return text + base::human(before) + " before the bodies, " + base::human(in) + " in the bodies, " +
         base::human(after) + " after)";
}

std::string right_aligned(const std::string& text) {
  return std::string(text.size() < kTimeWidth ? kTimeWidth - text.size() : 0, ' ') + text;
}

}  // namespace

std::string slow_tests_text(const runner::RunRecord& run, std::size_t count, const Paint& paint) {
  std::vector<const runner::TestRecord*> slowest;
  for (const runner::TestRecord& test : run.tests) {
    if (!test.attempts.empty()) slowest.push_back(&test);
  }
  std::stable_sort(slowest.begin(), slowest.end(),
                   [](const auto* one, const auto* other) { return one->duration > other->duration; });
  if (slowest.size() > count) slowest.resize(count);
  std::string text;
  for (const runner::TestRecord* test : slowest) {
    text += (text.empty() ? "slowest     " : "            ") + right_aligned(base::human(test->duration)) + "  " +
            base::one_line(test->info.id(), 2000) + paint(Style::Dim, division_of(*test)) + "\n";
  }
  return text;
}

}  // namespace distrun::report
