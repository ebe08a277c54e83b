// The life of a session: the time to begin and to end, its cost while idle, and its growth over time.
#include <benchmark/benchmark.h>
#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <thread>

#include <distrun/runtime/rpc/calls/call.hpp>
#include <distrun/runtime/tensor/core/factories.hpp>

#include "rpc_world.hpp"

namespace {

using namespace distrun;
using bench::Figures;
using bench::now_us;
using bench::RpcRank;

const bool is_short = std::getenv("DISTRUN_BENCH_BATCH") != nullptr;  // only checks that everything works

void call_once(int to) {
  benchmark::DoNotOptimize(rpc::rpc_sync<Tensor>(to, "add", tensor::ones({2, 2}), tensor::ones({2, 2})));
}

// Returns MiB; memory shared with other processes counts proportionally.
double proportional_memory() {
  std::ifstream file("/proc/self/smaps_rollup");
  double kib = 0;
  for (std::string word; file >> word;) {
    if (word == "Pss:") {
      file >> kib;
      break;
    }
  }
  return kib / 1024;
}

double cpu_seconds() {
  rusage used{};
  ::getrusage(RUSAGE_SELF, &used);
  return static_cast<double>(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
         1e-6 * static_cast<double>(used.ru_utime.tv_usec + used.ru_stime.tv_usec);
}

bool failed(benchmark::State& state, const Figures& figures) {
  if (figures.error.empty()) return false;
  state.SkipWithError(figures.error.c_str());
  return true;
}

double sum_of(const Figures& figures, std::size_t place) {
  double sum = 0;
  for (const auto& of_rank : figures.values) sum += of_rank[place];
  return sum;
}

// The time from init_rpc() to the first reply, and of shutdown(), on rank 0, after all processes have started.
void begin_and_end(benchmark::State& state, const std::string& transport) {
  const auto ranks = static_cast<int>(state.range(0));
  std::vector<double> begin_us, end_us;
  for (auto _ : state) {
    const Figures figures = bench::run_ranks(ranks, transport, [](RpcRank& rank) {
      rank.meet("begin");
      const double begin = now_us();
      rank.init();
      call_once((rank.number() + 1) % rank.count());
      rank.set_value(0, now_us() - begin);
      rank.meet("called");
      const double end = now_us();
      rank.shutdown();
      rank.set_value(1, now_us() - end);
    });
    if (failed(state, figures)) return;
    begin_us.push_back(figures.value(0, 0)), end_us.push_back(figures.value(0, 1));
    state.SetIterationTime((begin_us.back() + end_us.back()) / 1e6);
  }
  state.counters["us_to_first_reply"] = bench::median_of(begin_us);
  state.counters["us_of_shutdown"] = bench::median_of(end_us);
}

// Measured like torch's: fork of all ranks, init, a call of each, shutdown, and their ends.
void whole_life(benchmark::State& state, const std::string& transport) {
  const auto ranks = static_cast<int>(state.range(0));
  for (auto _ : state) {
    const double begin = now_us();
    const Figures figures = bench::run_ranks(ranks, transport, [](RpcRank& rank) {
      rank.init();
      call_once((rank.number() + 1) % rank.count());
      rank.shutdown();
    });
    if (failed(state, figures)) return;
    state.SetIterationTime((now_us() - begin) / 1e6);
  }
}

// Each rank calls each other rank once.
void large_world(benchmark::State& state, const std::string& transport) {
  const auto ranks = static_cast<int>(state.range(0));
  for (auto _ : state) {
    const Figures figures = bench::run_ranks(ranks, transport, [](RpcRank& rank) {
      const double begin = now_us();
      rank.init();
      const double called = now_us();
      for (int k = 1; k < rank.count(); ++k) call_once((rank.number() + k) % rank.count());
      const double end = now_us();
      rank.shutdown();
      rank.set_value(0, called - begin), rank.set_value(1, end - called), rank.set_value(2, now_us() - end);
    });
    if (failed(state, figures)) return;
    state.SetIterationTime((figures.value(0, 0) + figures.value(0, 1) + figures.value(0, 2)) / 1e6);
    state.counters["ms_init"] = figures.value(0, 0) / 1e3;
    state.counters["ms_calls"] = figures.value(0, 1) / 1e3;
    state.counters["ms_shutdown"] = figures.value(0, 2) / 1e3;
  }
}

// The cost of ranks that have called each other and wait. A pair's memory is what its first call adds on both sides.
void idle(benchmark::State& state, const std::string& transport) {
  const auto ranks = static_cast<int>(state.range(0));
  const std::chrono::milliseconds length(is_short ? 50 : 2000);
  for (auto _ : state) {
    const Figures figures = bench::run_ranks(ranks, transport, [length](RpcRank& rank) {
      rank.init();
      call_once(rank.number());
      rank.meet("alone");
      const double alone = proportional_memory();
      rank.meet("measured");
      for (int k = 1; k < rank.count(); ++k) call_once((rank.number() + k) % rank.count());
      rank.meet("called");
      std::this_thread::sleep_for(std::chrono::milliseconds(100));  // until nothing more is expected
      const double cpu = cpu_seconds();
      std::this_thread::sleep_for(length);
      rank.set_value(0, cpu_seconds() - cpu);
      const double together = proportional_memory();
      rank.meet("waited");
      rank.set_value(1, together - alone), rank.set_value(2, together);
      rank.shutdown();
    });
    if (failed(state, figures)) return;
    const std::chrono::duration<double> seconds = length;
    const int pairs = ranks * (ranks - 1) / 2;
    state.SetIterationTime(seconds.count());
    state.counters["cores"] = sum_of(figures, 0) / seconds.count();
    state.counters["KiB_of_a_pair"] = 1024 * sum_of(figures, 1) / pairs;
    state.counters["MiB_of_a_rank"] = sum_of(figures, 2) / ranks;
  }
}

double resident_mib() {
  std::ifstream file("/proc/self/statm");
  double pages = 0;
  file >> pages >> pages;
  return pages * 4096 / (1 << 20);
}

// Total calls of all ranks: $DISTRUN_BENCH_CALLS; ten million for a real measurement.
std::int64_t endurance_calls() {
  const char* const text = std::getenv("DISTRUN_BENCH_CALLS");
  if (text != nullptr) return std::max<std::int64_t>(std::atoll(text), 1000);
  return is_short ? 1000 : 200'000;
}

// Compares memory and p99 of the second tenth, when everything should be warm, with those of the last tenth.
void endurance(benchmark::State& state, const std::string& transport) {
  constexpr int kRanks = 4;
  const std::int64_t each = endurance_calls() / kRanks;
  for (auto _ : state) {
    const Figures figures = bench::run_ranks(kRanks, transport, [each](RpcRank& rank) {
      const Tensor a = tensor::ones({2, 2}), b = tensor::ones({2, 2});
      rank.init();
      // Touch these pages before memory is measured, or they would count as memory of the calls.
      std::vector<double> second(static_cast<std::size_t>(each / 10)), last(second.size());
      second.clear(), last.clear();
      double warm = 0;
      const double start = now_us();
      for (std::int64_t i = 0; i < each; ++i) {
        if (i == each / 5) warm = resident_mib();
        const int to = (rank.number() + 1 + static_cast<int>(i % (rank.count() - 1))) % rank.count();
        const double begin = now_us();
        benchmark::DoNotOptimize(rpc::rpc_sync<Tensor>(to, "add", a, b));
        const double took = now_us() - begin;
        if (i / (each / 10) == 1) second.push_back(took);
        if (i >= each - each / 10) last.push_back(took);
      }
      rank.set_value(0, resident_mib() - warm);
      rank.set_value(1, bench::percentile_of(second, 0.99)), rank.set_value(2, bench::percentile_of(last, 0.99));
      rank.set_value(3, bench::median_of(second)), rank.set_value(4, bench::median_of(last));
      rank.set_value(5, now_us() - start);
      rank.shutdown();
    });
    if (failed(state, figures)) return;
    state.SetIterationTime(figures.value(0, 5) / 1e6);
    state.counters["MiB_grown"] = sum_of(figures, 0) / kRanks;
    state.counters["us_p99_second"] = sum_of(figures, 1) / kRanks;
    state.counters["us_p99_last"] = sum_of(figures, 2) / kRanks;
    state.counters["us_median_second"] = sum_of(figures, 3) / kRanks;
    state.counters["us_median_last"] = sum_of(figures, 4) / kRanks;
    state.counters["calls_per_s"] = static_cast<double>(kRanks * each) / figures.value(0, 5) * 1e6;
  }
}

[[maybe_unused]] const bool life_registered = [] {
  for (const std::string transport : {"shm", "uds", "tcp", "inproc"}) {
    const auto add = [&](const std::string& name, auto bench, int iterations) {
      return benchmark::RegisterBenchmark((name + "/" + transport).c_str(),
                                          [bench, transport](benchmark::State& state) { bench(state, transport); })
          ->UseManualTime()
          ->Unit(benchmark::kMillisecond)
          ->Iterations(is_short ? 1 : iterations);
    };
    add("begin_and_end", begin_and_end, 20)->Arg(2)->Arg(4);
    add("whole_life", whole_life, 20)->Arg(4);
    add("large_world", large_world, 1)->Arg(64);
    if (transport != "inproc") add("idle", idle, 1)->Arg(4);
    add("endurance", endurance, 1);
  }
  return true;
}();

}  // namespace
