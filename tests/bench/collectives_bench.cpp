// Collectives of ranks that are processes, each on a CPU of its own as far as there are some. The benchmark is rank 0;
// the others do what it says, a batch at a time, which it times as a whole.
#include <benchmark/benchmark.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include <distrun/runtime/collectives/process_group.hpp>
#include <distrun/runtime/store/file_store.hpp>
#include <distrun/runtime/tensor/core/factories.hpp>

namespace {

using namespace distrun;

enum class Kind : std::int64_t { End, AllReduce, Broadcast, AllGather, Barrier };

// What rank 0 says: a kind, bytes, and how often.
struct Order {
  std::int64_t kind = 0;
  std::int64_t bytes = 0;
  std::int64_t times = 0;
};

void use_cpu(int rank) {
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(rank % static_cast<int>(::sysconf(_SC_NPROCESSORS_ONLN)), &one);
  ::sched_setaffinity(0, sizeof one, &one);
}

std::shared_ptr<ProcessGroup> join(const std::string& path, int rank, int ranks) {
  collectives::GroupInfo info;
  info.name = "world";
  info.rank = rank;
  for (int i = 0; i < ranks; ++i) info.ranks.push_back(i);
  return std::make_shared<ProcessGroup>(info, std::make_shared<FileStore>(path), GroupOptions());
}

class Member {
 public:
  explicit Member(std::shared_ptr<ProcessGroup> group) : group_(std::move(group)) {}

  Order exchange(Order order) {
    const Tensor words = tensor::empty({3}, {DType::I64});
    auto* const at = words.data_as<std::int64_t>();
    at[0] = order.kind, at[1] = order.bytes, at[2] = order.times;
    group_->broadcast(words);
    return {at[0], at[1], at[2]};
  }

  // Seconds, of each.
  double run(const Order& order) {
    const Tensor tensor = tensor::ones({order.bytes / 4});
    const Tensor all = tensor::ones({order.bytes / 4 * group_->size()});
    run_one(order, tensor, all);
    group_->barrier();
    const auto begin = std::chrono::steady_clock::now();
    for (std::int64_t i = 0; i < order.times; ++i) run_one(order, tensor, all);
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
    group_->barrier();
    return took.count() / static_cast<double>(order.times);
  }

 private:
  void run_one(const Order& order, const Tensor& tensor, const Tensor& all) {
    switch (static_cast<Kind>(order.kind)) {
      case Kind::AllReduce: group_->all_reduce(tensor, ReduceOp::Max); break;  // the numbers stay as they are
      case Kind::Broadcast: group_->broadcast(tensor); break;
      case Kind::AllGather: group_->all_gather_into(all, tensor); break;
      default: group_->barrier();
    }
  }

  std::shared_ptr<ProcessGroup> group_;
};

// Ranks 1 and up, until they are told to end.
class Others {
 public:
  Others(const std::string& path, int ranks) {
    for (int rank = 1; rank < ranks; ++rank) {
      const pid_t pid = ::fork();
      if (pid == 0) serve(path, rank, ranks);
      pids_.push_back(pid);
    }
  }
  ~Others() {
    for (const pid_t pid : pids_) ::waitpid(pid, nullptr, 0);
  }
  Others(const Others&) = delete;
  Others& operator=(const Others&) = delete;

 private:
  [[noreturn]] static void serve(const std::string& path, int rank, int ranks) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    use_cpu(rank);
    Member member(join(path, rank, ranks));
    for (;;) {
      const Order order = member.exchange({});
      if (order.kind == static_cast<std::int64_t>(Kind::End)) std::_Exit(0);
      member.run(order);
    }
  }

  std::vector<pid_t> pids_;
};

// Collectives of one batch; $DISTRUN_BENCH_BATCH is the most, for runs that are only to see that all works.
std::int64_t batch_of(std::int64_t bytes) {
  const std::int64_t batch = bytes < (1 << 18) ? 1000 : (bytes < (1 << 24) ? 50 : 3);
  const char* const most = std::getenv("DISTRUN_BENCH_BATCH");
  return most == nullptr ? batch : std::clamp<std::int64_t>(std::atoll(most), 1, batch);
}

void collective(benchmark::State& state, Kind kind) {
  const auto ranks = static_cast<int>(state.range(0));
  const std::int64_t bytes = state.range(1);
  std::string folder = std::filesystem::temp_directory_path().string() + "/collectives_bench_XXXXXX";
  (void)!::mkdtemp(folder.data());
  {
    const Others others(folder + "/store", ranks);
    use_cpu(0);
    Member member(join(folder + "/store", 0, ranks));
    const Order order{static_cast<std::int64_t>(kind), bytes, batch_of(bytes)};
    std::vector<double> us;
    for (auto _ : state) {
      us.push_back(1e6 * member.run(member.exchange(order)));
      state.SetIterationTime(us.back() * static_cast<double>(order.times) / 1e6);
    }
    std::nth_element(us.begin(), us.begin() + static_cast<std::ptrdiff_t>(us.size() / 2), us.end());
    state.counters["us_each"] = us[us.size() / 2];  // the median batch's
    member.exchange({});
  }
  std::filesystem::remove_all(folder);
}

void sizes(benchmark::internal::Benchmark* all) {
  for (const int ranks : {2, 4}) {
    for (const int bytes : {4, 4 << 10, 64 << 10, 1 << 20, 64 << 20}) all->Args({ranks, bytes});
  }
  all->ArgNames({"ranks", "bytes"})->UseManualTime()->Unit(benchmark::kMillisecond);
}

BENCHMARK_CAPTURE(collective, all_reduce, Kind::AllReduce)->Apply(sizes);
BENCHMARK_CAPTURE(collective, broadcast, Kind::Broadcast)->Apply(sizes);
BENCHMARK_CAPTURE(collective, all_gather, Kind::AllGather)->Apply(sizes);
BENCHMARK_CAPTURE(collective, barrier, Kind::Barrier)
    ->Args({2, 0})
    ->Args({4, 0})
    ->ArgNames({"ranks", "bytes"})
    ->UseManualTime()
    ->Unit(benchmark::kMillisecond);

}  // namespace
