// The cost of recording a run in the history, and of queries in a large history.
#include <benchmark/benchmark.h>

#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>

#include <distrun/common/base/rng.hpp>
#include <distrun/runner/history/history.hpp>

namespace distrun::bench {
namespace {

constexpr std::int64_t kDayNs = std::int64_t{24} * 3600 * 1'000'000'000;

// A file in the current directory, which should be on the same kind of disk as a home directory.
class Place {
 public:
  Place() : directory_("history-bench-" + base::random_hex(8)) { std::filesystem::create_directory(directory_); }
  ~Place() { std::filesystem::remove_all(directory_); }
  std::string path() const { return directory_ + "/history.db"; }

 private:
  std::string directory_;
};

runner::RunRecord run_of(int tests, std::int64_t day) {
  runner::RunRecord run;
  run.run_id = base::random_hex(12);
  run.started_wall_ns = day * kDayNs;
  run.machine.hostname = "bench";
  for (int i = 0; i < tests; ++i) {
    runner::TestRecord& test = run.tests.emplace_back();
    test.info.suite = "Suite" + std::to_string(i / 100);
    test.info.name = "a_test_with_a_name";
    test.info.parameters = {{"number", std::to_string(i)}};
    test.plugin = "build/plugins/bench.so";
    test.variant = {4, "shm", "pipe", "none", Isolation::Process, ""};
    runner::AttemptRecord& attempt = test.attempts.emplace_back();
    attempt.duration = std::chrono::microseconds(1000 + (i + day) % 977);
    if ((i + day) % 50 == 0) {
      test.verdict = attempt.verdict = runner::Verdict::Fail;
      test.message = "rank 2 failed: REQUIRE(rows == 4) left: 3, right: 4 (training.cpp:14)";
    }
  }
  return run;
}

// Open, record and close, as each run does at its end, in a history of ten such runs.
void record(benchmark::State& state) {
  const Place place;
  const int tests = static_cast<int>(state.range(0));
  std::int64_t day = 1;
  for (; day <= 10; ++day) {
    history::History(place.path(), history::History::Access::Write).record(run_of(tests, day));
  }
  for (auto _ : state) {
    state.PauseTiming();
    const runner::RunRecord run = run_of(tests, ++day);
    state.ResumeTiming();
    history::History(place.path(), history::History::Access::Write).record(run);
  }
}
BENCHMARK(record)->Arg(1)->Arg(1000)->Unit(benchmark::kMillisecond)->UseRealTime();

// A history with five results of each test.
const Place& filled(int tests) {
  static std::unique_ptr<Place> place;
  static int holds = 0;
  if (holds != tests) {
    place = std::make_unique<Place>();
    holds = tests;
    history::Limits roomy;
    roomy.bytes = std::int64_t{4} << 30;
    history::History history(place->path(), history::History::Access::Write, roomy);
    for (std::int64_t day = 1; day <= 5; ++day) history.record(run_of(tests, day));
  }
  return *place;
}

void hints(benchmark::State& state) {
  const std::string path = filled(static_cast<int>(state.range(0))).path();
  for (auto _ : state) {
    benchmark::DoNotOptimize(history::History(path, history::History::Access::Read).hints().size());
  }
}
BENCHMARK(hints)->Arg(1000)->Arg(100'000)->Unit(benchmark::kMillisecond)->UseRealTime();

void table(benchmark::State& state) {
  const std::string path = filled(static_cast<int>(state.range(0))).path();
  for (auto _ : state) {
    benchmark::DoNotOptimize(history::History(path, history::History::Access::Read).tests({}).size());
  }
}
BENCHMARK(table)->Arg(1000)->Arg(100'000)->Unit(benchmark::kMillisecond)->UseRealTime();

void results_of_one_test(benchmark::State& state) {
  const std::string path = filled(static_cast<int>(state.range(0))).path();
  history::Selection selection;
  selection.filter = runner::Filter({"Suite1.*/number=150"});
  for (auto _ : state) {
    benchmark::DoNotOptimize(history::History(path, history::History::Access::Read).results(selection, 50).size());
  }
}
BENCHMARK(results_of_one_test)->Arg(1000)->Arg(100'000)->Unit(benchmark::kMillisecond)->UseRealTime();

}  // namespace
}  // namespace distrun::bench
