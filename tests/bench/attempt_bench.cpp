// The cost of a test: the whole overhead of an attempt, and how soon a death is detected. With few cores the numbers
// depend on the kernel's placement of ranks: compare only numbers of one run of this program.
#include <benchmark/benchmark.h>

#include <cstdlib>
#include <string>

#include "harness.hpp"

namespace distrun::bench {
namespace {

using runner::Verdict;

// Includes descriptors and directories, fork or exec, hello, order, result, exit, reaping, sweep and verdict.
void trivial(benchmark::State& state, Isolation isolation) {
  Silence silence;
  Harness harness(silence);
  const int ranks = static_cast<int>(state.range(0));
  harness.attempt("trivial", ranks, isolation);  // the zygote starts here
  for (auto _ : state) {
    const runner::AttemptRecord attempt = harness.attempt("trivial", ranks, isolation);
    if (attempt.verdict != Verdict::Pass) {
      state.SkipWithError(("not a pass: " + attempt.message).c_str());
      return;
    }
  }
  state.counters["per_rank"] = benchmark::Counter(static_cast<double>(state.iterations() * ranks),
                                                  benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
}
BENCHMARK_CAPTURE(trivial, process, distrun::Isolation::Process)
    ->RangeMultiplier(2)
    ->Range(2, 256)
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();
BENCHMARK_CAPTURE(trivial, exec, distrun::Isolation::Exec)->Arg(4)->Unit(benchmark::kMillisecond)->UseRealTime();

double seconds_between(long long from_ns, base::TimePoint to) {
  const auto to_ns = std::chrono::duration_cast<base::Nanoseconds>(to.time_since_epoch()).count();
  return static_cast<double>(to_ns - from_ns) * 1e-9;
}

// Records when the dying rank's outcome and the verdict were reported.
class DeathWatch final : public Silence {
 public:
  void on_rank_end(const std::string&, int, const runner::RankRecord& rank) override {
    if (rank.outcome.kind != runner::OutcomeKind::Signaled) return;
    known_ = base::system_clock().now();
    for (const wire::KeyValue& note : rank.notes) died_ns_ = std::atoll(note.value.c_str());
  }
  void on_attempt_end(const std::string&, const runner::AttemptRecord&) override {
    judged_ = base::system_clock().now();
  }
  double to_outcome() const { return seconds_between(died_ns_, known_); }
  double to_verdict() const { return seconds_between(died_ns_, judged_); }

 private:
  long long died_ns_ = 0;
  base::TimePoint known_;
  base::TimePoint judged_;
};

// The time from just before raise(SIGKILL) until the outcome, with culprit and cause, reaches the reports.
void death_to_outcome(benchmark::State& state) {
  DeathWatch watch;
  Harness harness(watch);
  for (auto _ : state) {
    harness.attempt("last_rank_dies", 4, distrun::Isolation::Process);
    state.SetIterationTime(watch.to_outcome());
  }
}
BENCHMARK(death_to_outcome)->Unit(benchmark::kMillisecond)->UseManualTime();

// The same until the attempt's verdict, when the other three wait in a barrier and must be notified.
void death_to_verdict(benchmark::State& state) {
  DeathWatch watch;
  Harness harness(watch);
  for (auto _ : state) {
    const runner::AttemptRecord attempt =
        harness.attempt("last_rank_dies_while_others_wait", 4, distrun::Isolation::Process);
    if (attempt.verdict != Verdict::Crash) {
      state.SkipWithError(("not a crash: " + attempt.message).c_str());
      return;
    }
    state.SetIterationTime(watch.to_verdict());
  }
}
BENCHMARK(death_to_verdict)->Unit(benchmark::kMillisecond)->UseManualTime();

// The time from the timeout of a hung body to the verdict: stacks of all ranks, three samples, end of the ranks.
void bound_to_verdict(benchmark::State& state) {
  Silence silence;
  Harness harness(silence);
  const int ranks = static_cast<int>(state.range(0));
  harness.attempt("trivial", ranks, distrun::Isolation::Process);
  for (auto _ : state) {
    const runner::AttemptRecord attempt = harness.attempt("last_rank_hangs", ranks, distrun::Isolation::Process);
    if (attempt.verdict != Verdict::Timeout || attempt.snapshots.size() != 1) {
      state.SkipWithError(("not a timeout with a look: " + attempt.message).c_str());
      return;
    }
    state.SetIterationTime(std::chrono::duration<double>(attempt.duration - kBodyBound).count());
  }
}
BENCHMARK(bound_to_verdict)->Arg(4)->Arg(64)->Unit(benchmark::kMillisecond)->UseManualTime();

}  // namespace
}  // namespace distrun::bench
