// How soon ranks notice the death of one that they wait for, and the cost of a long wait. The ranks of peer_death and
// long_wait are processes without a runner, those of death_in_a_run are ranks of distrun.
#include <benchmark/benchmark.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <new>
#include <string>
#include <vector>

#include <distrun/common/base/error.hpp>
#include <distrun/runtime/collectives/process_group.hpp>
#include <distrun/runtime/store/file_store.hpp>
#include <distrun/runtime/tensor/core/factories.hpp>

#include "programs.hpp"
#include "support/end_with.hpp"

namespace {

using namespace distrun;

constexpr int kRanks = 4;  // the last one dies

std::int64_t now_ns() { return std::chrono::steady_clock::now().time_since_epoch().count(); }

std::int64_t cpu_us() {
  rusage used{};
  ::getrusage(RUSAGE_SELF, &used);
  return (used.ru_utime.tv_sec + used.ru_stime.tv_sec) * 1'000'000 + used.ru_utime.tv_usec + used.ru_stime.tv_usec;
}

// Reports of the ranks, in shared memory.
struct Told {
  std::atomic<std::int64_t> died_ns{0};
  std::array<std::atomic<std::int64_t>, kRanks> heard_ns{};  // 0: that rank has not noticed the death
  std::array<std::atomic<std::int64_t>, kRanks> cpu_us{};    // of its wait
};

class World {
 public:
  // The last rank dies `after` this long, once all ranks have met.
  explicit World(std::chrono::milliseconds after) : after_(after) {
    void* const shared = ::mmap(nullptr, sizeof(Told), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED) std::abort();
    told_ = new (shared) Told;
    (void)!::mkdtemp(folder_.data());
    const pid_t parent = ::getpid();
    for (int rank = 0; rank < kRanks; ++rank) {
      pids_.push_back(::fork());
      if (pids_.back() == 0) testing::end_with(parent), be_rank(rank);
    }
    ::waitpid(pids_.back(), nullptr, 0);
    reaped_ns_ = now_ns();
    for (const pid_t pid : pids_) ::waitpid(pid, nullptr, 0);
  }
  ~World() {
    ::munmap(told_, sizeof(Told));
    std::filesystem::remove_all(folder_);
  }
  World(const World&) = delete;
  World& operator=(const World&) = delete;

  // Returns the time until the last survivor has noticed the death; below 0: not all have.
  double seconds() const {
    std::int64_t last = 0;
    for (int rank = 0; rank + 1 < kRanks; ++rank) {
      const std::int64_t heard = told_->heard_ns[static_cast<std::size_t>(rank)].load();
      if (heard == 0) return -1;
      last = std::max(last, heard);
    }
    return 1e-9 * static_cast<double>(last - told_->died_ns.load());
  }
  // Returns the time until the kernel notified this process, its parent.
  double seconds_to_reap() const { return 1e-9 * static_cast<double>(reaped_ns_ - told_->died_ns.load()); }
  // Returns the CPU time of rank 0.
  std::int64_t waiting_cpu_us() const { return told_->cpu_us[0].load(); }

 private:
  [[noreturn]] void be_rank(int rank) {
    collectives::GroupInfo info;
    info.name = "world";
    info.rank = rank;
    for (int i = 0; i < kRanks; ++i) info.ranks.push_back(i);
    ProcessGroup group(info, std::make_shared<FileStore>(folder_ + "/store"), GroupOptions());
    group.barrier();
    if (rank + 1 == kRanks) {
      ::poll(nullptr, 0, static_cast<int>(after_.count()));
      told_->died_ns = now_ns();
      ::raise(SIGKILL);
    }
    wait(group, rank);
    std::_Exit(0);
  }
  void wait(ProcessGroup& group, int rank) {
    const auto place = static_cast<std::size_t>(rank);
    const std::int64_t cpu = cpu_us();
    try {
      group.all_reduce(tensor::ones({4}));
    } catch (const base::PeerFailed& failed) {
      if (failed.rank() == kRanks - 1) told_->heard_ns[place] = now_ns();
    }
    told_->cpu_us[place] = cpu_us() - cpu;
  }

  const std::chrono::milliseconds after_;
  std::string folder_ = std::filesystem::temp_directory_path().string() + "/death_bench_XXXXXX";
  Told* told_ = nullptr;
  std::int64_t reaped_ns_ = 0;
  std::vector<pid_t> pids_;
};

void count(benchmark::State& state, std::vector<double>& us) {
  std::sort(us.begin(), us.end());
  state.counters["us_median"] = us[us.size() / 2];
  state.counters["us_worst"] = us.back();
}

// The time from just before raise(SIGKILL) to the errors of all three others, which are asleep by then.
void peer_death(benchmark::State& state) {
  std::vector<double> us, reaped_us;
  for (auto _ : state) {
    const World world(std::chrono::milliseconds(20));
    const double seconds = world.seconds();
    if (seconds < 0) return state.SkipWithError("not all have heard of the rank that died");
    state.SetIterationTime(seconds);
    us.push_back(1e6 * seconds);
    reaped_us.push_back(1e6 * world.seconds_to_reap());
  }
  count(state, us);
  std::sort(reaped_us.begin(), reaped_us.end());
  state.counters["us_to_reap"] = reaped_us[reaped_us.size() / 2];
}
BENCHMARK(peer_death)->Unit(benchmark::kMillisecond)->UseManualTime()->Iterations(100);

// The CPU time of a rank during a wait of that many seconds.
void long_wait(benchmark::State& state) {
  for (auto _ : state) {
    const World world{std::chrono::seconds(state.range(0))};
    state.SetIterationTime(1e-6 * static_cast<double>(world.waiting_cpu_us()));
    state.counters["cpu_us_per_s"] = static_cast<double>(world.waiting_cpu_us()) / static_cast<double>(state.range(0));
  }
}
BENCHMARK(long_wait)->Arg(2)->Unit(benchmark::kMillisecond)->UseManualTime()->Iterations(1);

// Reads the file of death_plugin.cpp; below 0: not all ranks have noticed the death.
double seconds_in(const std::string& path) {
  std::ifstream file(path);
  std::int64_t died = 0, last = 0, at = 0;
  int heard = 0;
  for (std::string what; file >> what >> at;) {
    if (what == "died") died = at;
    if (what == "heard") ++heard, last = std::max(last, at);
  }
  return died == 0 || heard + 1 != kRanks ? -1 : 1e-9 * static_cast<double>(last - died);
}

// The same in a run: its coordinator notifies ranks of one that failed (but not of one that may die).
void death_in_a_run(benchmark::State& state, const std::string& test) {
  std::string folder = std::filesystem::temp_directory_path().string() + "/death_bench_XXXXXX";
  (void)!::mkdtemp(folder.data());
  const std::string deaths = folder + "/deaths";
  ::setenv("DISTRUN_BENCH_DEATHS", deaths.c_str(), 1);
  std::vector<double> us;
  for (auto _ : state) {
    std::filesystem::remove(deaths);
    bench::run_program({DISTRUN_BIN_DIR "/distrun", "--history", "off", "-w", std::to_string(kRanks), "--filter", test,
                        DISTRUN_DEATH_PLUGIN});
    const double seconds = seconds_in(deaths);
    if (seconds < 0) {
      state.SkipWithError("not all have heard of the rank that died");
      break;
    }
    state.SetIterationTime(seconds);
    us.push_back(1e6 * seconds);
  }
  std::filesystem::remove_all(folder);
  if (!us.empty()) count(state, us);
}
BENCHMARK_CAPTURE(death_in_a_run, that_fails, std::string("Deaths.of_a_rank"))
    ->Unit(benchmark::kMillisecond)
    ->UseManualTime()
    ->Iterations(20);
BENCHMARK_CAPTURE(death_in_a_run, that_may_die, std::string("Deaths.that_may_be"))
    ->Unit(benchmark::kMillisecond)
    ->UseManualTime()
    ->Iterations(20);

}  // namespace
