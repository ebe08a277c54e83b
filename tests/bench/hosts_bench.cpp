// Measures the cost of many hosts for their coordinator: worlds of up to 8 000 ranks on 1 000 nodes, of which only the
// coordinator's side is real (fake_nodes.hpp). "coordinator" is its CPU time, without that of the fake nodes.
#include <benchmark/benchmark.h>
#include <malloc.h>
#include <unistd.h>

#include <boost/asio/co_spawn.hpp>

#include <fstream>
#include <memory>
#include <string>

#include <distrun/common/base/rng.hpp>
#include <distrun/runner/attempt/attempt.hpp>
#include <distrun/runner/attempt/name_watch.hpp>
#include <distrun/runner/attempt/work_dirs.hpp>
#include <distrun/runner/record/silent_sink.hpp>

#include "fake_nodes.hpp"

namespace distrun::bench {
namespace {

using runner::Verdict;
using Ranks = FakeNodes::Ranks;
using Milliseconds = std::chrono::duration<double, std::milli>;

constexpr int kRanksEach = 8;

double heap_bytes() { return static_cast<double>(::mallinfo2().uordblks + ::mallinfo2().hblkhd); }
double resident_bytes() {
  std::ifstream file("/proc/self/statm");
  double all = 0, resident = 0;
  file >> all >> resident;
  return resident * static_cast<double>(::sysconf(_SC_PAGESIZE));
}
double ms(base::Nanoseconds time) { return Milliseconds(time).count(); }

// Notes how much CPU time the snapshot of a hang has taken.
class Watch final : public runner::SilentSink {
 public:
  void on_snapshot(const std::string&, int, const runner::Snapshot& snapshot) override {
    if (snapshot.kind != runner::SnapshotKind::Timeout) return;
    took = thread_cpu_time() - fakes->nodes_cpu() - fakes->cpu_when_asked();
    processes = snapshot.stacks.processes.size();
    lines = snapshot.text.size();
  }
  FakeNodes* fakes = nullptr;
  base::Nanoseconds took{};
  std::size_t processes = 0;
  std::size_t lines = 0;
};

class Coordinator {
 public:
  Coordinator(int nodes, int ranks_each, Ranks ranks)
      : places_(proc::RunPlaces::here(base::random_hex(12))),
        fakes(loop, nodes, ranks_each, ranks),
        names_(places_),
        dirs_(places_.run_dir(), false),
        context_{loop, fakes.set(), watch, names_, settings, dirs_, places_.run_id} {
    settings.deadlock = runner::DeadlockPolicy::Off;
    settings.suspect_after = {};
    watch.fakes = &fakes;
  }
  ~Coordinator() { proc::remove_run_files(places_); }

  runner::AttemptRecord attempt(base::Nanoseconds bound);
  void cancel() { attempt_->cancel(runner::Urgency::AtOnce); }
  // The CPU time used by the coordinator so far.
  base::Nanoseconds cpu() const { return thread_cpu_time() - fakes.nodes_cpu(); }

 private:
  io::Task<void> run(const runner::PlannedTest& test, runner::AttemptRecord& result);

  proc::RunPlaces places_;

 public:
  io::Loop loop;
  FakeNodes fakes;
  Watch watch;
  runner::Settings settings;

 private:
  runner::NameWatch names_;
  runner::WorkDirPool dirs_;
  runner::RunContext context_;
  runner::Attempt* attempt_ = nullptr;
};

io::Task<void> Coordinator::run(const runner::PlannedTest& test, runner::AttemptRecord& result) {
  co_await fakes.set().prepare(test.plugin, test.variant.isolation, std::chrono::seconds(30));
  runner::Attempt attempt(context_, test, 1, runner::AttemptKind::First);
  attempt_ = &attempt;
  result = co_await attempt.run();
}

runner::AttemptRecord Coordinator::attempt(base::Nanoseconds bound) {
  runner::PlannedTest test;
  test.info.suite = "Bench";
  test.info.name = "test";
  test.info.timeout_ms = std::chrono::duration_cast<std::chrono::milliseconds>(bound).count();
  test.id = test.info.id();
  test.plugin = "plugin.so";
  test.variant.world_size = fakes.world_size();
  runner::AttemptRecord result;
  std::exception_ptr failure;
  boost::asio::co_spawn(loop.context(), run(test, result), [&](std::exception_ptr error) {
    failure = error;
    loop.stop();
  });
  loop.context().restart();
  loop.run();
  if (failure) std::rethrow_exception(failure);
  return result;
}

bool is(benchmark::State& state, const runner::AttemptRecord& attempt, Verdict wanted) {
  if (attempt.verdict == wanted) return true;
  state.SkipWithError(("another verdict: " + attempt.message).c_str());
  return false;
}

void show(benchmark::State& state, const char* name, double value) {
  state.counters[name] = benchmark::Counter(value / static_cast<double>(state.iterations()));
}

// From the start to the verdict of a test that does nothing.
void trivial(benchmark::State& state) {
  Coordinator coordinator(static_cast<int>(state.range(0)), kRanksEach, Ranks::Pass);
  const double ranks = coordinator.fakes.world_size();
  base::Nanoseconds cpu{};
  for (auto _ : state) {
    const base::Nanoseconds before = coordinator.cpu();
    if (!is(state, coordinator.attempt(std::chrono::seconds(300)), Verdict::Pass)) return;
    cpu += coordinator.cpu() - before;
  }
  const FakeNodes::Traffic traffic = coordinator.fakes.traffic();
  show(state, "coordinator_ms", ms(cpu));
  show(state, "us/rank", 1000 * ms(cpu) / ranks);
  show(state, "bytes_out/rank", static_cast<double>(traffic.bytes_to_nodes) / ranks);
  show(state, "bytes_in/rank", static_cast<double>(traffic.bytes_from_nodes) / ranks);
}
BENCHMARK(trivial)->Arg(10)->Arg(100)->Arg(1000)->Unit(benchmark::kMillisecond)->UseRealTime();

// The CPU time from the request for the stacks of all ranks to the report of them: two threads of each rank.
void stacks_to_report(benchmark::State& state) {
  Coordinator coordinator(static_cast<int>(state.range(0)), static_cast<int>(state.range(1)), Ranks::Hang);
  for (auto _ : state) {
    const runner::AttemptRecord attempt = coordinator.attempt(std::chrono::milliseconds(20));
    if (!is(state, attempt, Verdict::Timeout)) return;
    state.SetIterationTime(std::chrono::duration<double>(coordinator.watch.took).count());
  }
  state.counters["processes"] = static_cast<double>(coordinator.watch.processes);
  state.counters["lines"] = static_cast<double>(coordinator.watch.lines);
}
BENCHMARK(stacks_to_report)
    ->Args({4, 16})
    ->Args({10, 8})
    ->Args({100, 8})
    ->Args({1000, 8})
    ->Unit(benchmark::kMillisecond)
    ->UseManualTime();

// Measures the coordinator while all ranks are in their body. Ends the attempt after a while.
class InBody {
 public:
  // The nodes tell their states this often; 0: nothing changes.
  InBody(Coordinator& coordinator, base::Nanoseconds states_every)
      : coordinator_(coordinator),
        states_every_(states_every),
        heap_before_(heap_bytes()),
        resident_before_(resident_bytes()),
        alarm_(coordinator.loop, [this] { tick(); }) {
    alarm_.set(coordinator.loop.clock().now() + kTick);
  }
  double ms_per_second() const { return ms(cpu_) / std::chrono::duration<double>(passed_).count(); }
  double heap() const { return heap_; }
  double resident() const { return resident_; }

 private:
  static constexpr auto kTick = std::chrono::milliseconds(100);

  void tick() {
    const base::TimePoint now = coordinator_.loop.clock().now();
    if (coordinator_.fakes.begun() < coordinator_.fakes.world_size()) return alarm_.set(now + kTick);
    if (begin_ == base::TimePoint()) {
      begin_ = now;
      cpu_before_ = coordinator_.cpu();
    }
    passed_ = now - begin_;
    cpu_ = coordinator_.cpu() - cpu_before_;
    if (passed_ < std::chrono::seconds(2)) {
      if (states_every_.count() > 0) coordinator_.fakes.tell_states();
      return alarm_.set(now + (states_every_.count() > 0 ? states_every_ : kTick));
    }
    heap_ = heap_bytes() - heap_before_;
    resident_ = resident_bytes() - resident_before_;
    coordinator_.cancel();
  }

  Coordinator& coordinator_;
  const base::Nanoseconds states_every_;
  const double heap_before_, resident_before_;
  base::TimePoint begin_;
  base::Nanoseconds cpu_before_{}, cpu_{}, passed_{};
  double heap_ = 0, resident_ = 0;
  io::Alarm alarm_;
};

void in_body(benchmark::State& state, base::Nanoseconds states_every, bool watches) {
  for (auto _ : state) {
    Coordinator coordinator(static_cast<int>(state.range(0)), kRanksEach, Ranks::Hang);
    if (watches) coordinator.settings = {};
    InBody measured(coordinator, states_every);
    coordinator.attempt(std::chrono::seconds(300));
    state.SetIterationTime(measured.ms_per_second() / 1000);
    state.counters["heap_KiB/rank"] = measured.heap() / 1024 / coordinator.fakes.world_size();
    state.counters["resident_KiB/rank"] = measured.resident() / 1024 / coordinator.fakes.world_size();
  }
}
// CPU time for each second, and memory: ranks of which nothing changes, with and without the watch for deadlocks, and
// ranks with a state that changes in each look of their nodes.
BENCHMARK_CAPTURE(in_body, quiet, base::Nanoseconds::zero(), false)
    ->Arg(100)
    ->Arg(1000)
    ->Unit(benchmark::kMillisecond)
    ->UseManualTime()
    ->Iterations(1);
BENCHMARK_CAPTURE(in_body, quiet_and_watched, base::Nanoseconds::zero(), true)
    ->Arg(100)
    ->Arg(1000)
    ->Unit(benchmark::kMillisecond)
    ->UseManualTime()
    ->Iterations(1);
BENCHMARK_CAPTURE(in_body, busy, std::chrono::milliseconds(100), false)
    ->Arg(100)
    ->Arg(1000)
    ->Unit(benchmark::kMillisecond)
    ->UseManualTime()
    ->Iterations(1);
BENCHMARK_CAPTURE(in_body, busy_and_watched, std::chrono::milliseconds(100), true)
    ->Arg(100)
    ->Arg(1000)
    ->Unit(benchmark::kMillisecond)
    ->UseManualTime()
    ->Iterations(1);

}  // namespace
}  // namespace distrun::bench
