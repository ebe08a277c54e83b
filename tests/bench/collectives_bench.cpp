// Collectives of ranks that are processes, each on a separate CPU as far as there are enough. The benchmark is rank 0;
// the others follow its orders, one batch at a time, and a batch is timed as a whole.
#include <benchmark/benchmark.h>
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include <distrun/runtime/collectives/process_group.hpp>
#include <distrun/runtime/device/gpu.hpp>
#include <distrun/runtime/device/stream.hpp>
#include <distrun/runtime/store/file_store.hpp>
#include <distrun/runtime/tensor/core/copy.hpp>
#include <distrun/runtime/tensor/core/factories.hpp>

#include "support/end_with.hpp"

namespace {

using namespace distrun;

enum class Kind : std::int64_t { End, AllReduce, Broadcast, AllGather, Barrier };

// An order of rank 0: kind, bytes, and number of repetitions.
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

std::shared_ptr<ProcessGroup> join(const std::string& path, int rank, int ranks, GroupOptions options = {}) {
  collectives::GroupInfo info;
  info.name = "world";
  info.rank = rank;
  for (int i = 0; i < ranks; ++i) info.ranks.push_back(i);
  return std::make_shared<ProcessGroup>(info, std::make_shared<FileStore>(path), std::move(options));
}

class Member {
 public:
  explicit Member(std::shared_ptr<ProcessGroup> group) : group_(std::move(group)) {}

  Order exchange(Order order) {
    const Tensor words = tensor::empty({3}, {DType::I64});
    auto* const at = words.data_as<std::int64_t>();
    at[0] = order.kind, at[1] = order.bytes, at[2] = order.times;
    const Tensor there = tensor::to(words, group_->device());
    group_->broadcast(there).wait(group_->host_wait());
    const Tensor got = tensor::to(there, device::kCpu);
    const auto* const from = got.data_as<std::int64_t>();
    return {from[0], from[1], from[2]};
  }

  // Returns the seconds per repetition.
  double run(const Order& order) {
    const device::Device at = group_->device();
    const Tensor tensor = tensor::ones({order.bytes / 4}, {DType::F32, at});
    const Tensor all = tensor::ones({order.bytes / 4 * group_->size()}, {DType::F32, at});
    run_one(order, tensor, all);
    group_->barrier();
    const auto begin = std::chrono::steady_clock::now();
    for (std::int64_t i = 0; i < order.times; ++i) run_one(order, tensor, all);
    device::synchronize(at);  // on GPUs the hosts have only queued the work
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
    group_->barrier();
    return took.count() / static_cast<double>(order.times);
  }

 private:
  void run_one(const Order& order, const Tensor& tensor, const Tensor& all) {
    switch (static_cast<Kind>(order.kind)) {
      case Kind::AllReduce: group_->all_reduce(tensor, ReduceOp::Max); break;  // max keeps the numbers unchanged
      case Kind::Broadcast: group_->broadcast(tensor); break;
      case Kind::AllGather: group_->all_gather_into(all, tensor); break;
      default: group_->barrier();
    }
  }

  std::shared_ptr<ProcessGroup> group_;
};

// Ranks 1 and up, until they get the order to end.
class Others {
 public:
  Others(const std::string& path, int ranks) {
    const pid_t parent = ::getpid();
    for (int rank = 1; rank < ranks; ++rank) {
      const pid_t pid = ::fork();
      if (pid == 0) testing::end_with(parent), serve(path, rank, ranks);
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

// All ranks are child processes; rank 0 among them takes orders and measures. The benchmark itself opens no GPUs: a
// process that has opened GPUs cannot fork children that use them.
class OnGpus {
 public:
  OnGpus(const std::string& path, const std::string& driver, int ranks) {
    if (::pipe(orders_) != 0 || ::pipe(answers_) != 0) std::abort();
    const pid_t parent = ::getpid();
    for (int rank = 0; rank < ranks; ++rank) {
      const pid_t pid = ::fork();
      if (pid == 0) testing::end_with(parent), serve(path, driver, rank, ranks);
      pids_.push_back(pid);
    }
  }
  ~OnGpus() {
    tell({});
    for (const pid_t pid : pids_) ::waitpid(pid, nullptr, 0);
    for (const int fd : {orders_[0], orders_[1], answers_[0], answers_[1]}) ::close(fd);
  }
  OnGpus(const OnGpus&) = delete;
  OnGpus& operator=(const OnGpus&) = delete;

  // Returns the seconds per repetition; below 0: there is no such GPU.
  double run(const Order& order) {
    tell(order);
    double seconds = -1;
    return ::read(answers_[0], &seconds, sizeof seconds) == sizeof seconds ? seconds : -1;
  }

 private:
  void tell(const Order& order) const {
    if (::write(orders_[1], &order, sizeof order) != sizeof order) std::abort();
  }
  [[noreturn]] void serve(const std::string& path, const std::string& driver, int rank, int ranks) const {
    use_cpu(rank);
    device::GpuSettings settings;
    settings.driver = driver;
    if (driver == "virtual") settings.devices = ranks;
    device::choose_gpu_driver(settings);
    if (device::gpu_count() < ranks) refuse(rank);
    Member member(join(path, rank, ranks, {.backend = "nccl"}));
    for (;;) {
      Order order;
      if (rank == 0 && ::read(orders_[0], &order, sizeof order) != sizeof order) std::abort();
      order = member.exchange(order);
      if (order.kind == static_cast<std::int64_t>(Kind::End)) std::_Exit(0);
      const double seconds = member.run(order);
      if (rank == 0 && ::write(answers_[1], &seconds, sizeof seconds) != sizeof seconds) std::abort();
    }
  }
  // Called by rank 0 to answer; the others just exit.
  [[noreturn]] void refuse(int rank) const {
    const double none = -1;
    if (rank == 0 && ::write(answers_[1], &none, sizeof none) != sizeof none) std::abort();
    std::_Exit(0);
  }

  int orders_[2], answers_[2];
  std::vector<pid_t> pids_;
};

// Collectives per batch, at most $DISTRUN_BENCH_BATCH, for runs that only check that everything works.
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
    state.counters["us_each"] = us[us.size() / 2];  // of the median batch
    member.exchange({});
  }
  std::filesystem::remove_all(folder);
}

void all_reduce_by_nccl(benchmark::State& state, const std::string& driver) {
  const auto ranks = static_cast<int>(state.range(0));
  const std::int64_t bytes = state.range(1);
  std::string folder = std::filesystem::temp_directory_path().string() + "/collectives_bench_XXXXXX";
  (void)!::mkdtemp(folder.data());
  {
    OnGpus gpus(folder + "/store", driver, ranks);
    const Order order{static_cast<std::int64_t>(Kind::AllReduce), bytes, batch_of(bytes)};
    std::vector<double> us;
    for (auto _ : state) {
      const double seconds = gpus.run(order);
      if (seconds < 0) {
        state.SkipWithError("this machine has too few GPUs");
        break;
      }
      us.push_back(1e6 * seconds);
      state.SetIterationTime(seconds * static_cast<double>(order.times));
    }
    std::nth_element(us.begin(), us.begin() + static_cast<std::ptrdiff_t>(us.size() / 2), us.end());
    if (!us.empty()) state.counters["us_each"] = us[us.size() / 2];
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
BENCHMARK_CAPTURE(all_reduce_by_nccl, virtual_gpus, std::string("virtual"))->Apply(sizes);
BENCHMARK_CAPTURE(all_reduce_by_nccl, gpus, std::string("cuda"))->Apply(sizes);
BENCHMARK_CAPTURE(collective, broadcast, Kind::Broadcast)->Apply(sizes);
BENCHMARK_CAPTURE(collective, all_gather, Kind::AllGather)->Apply(sizes);
BENCHMARK_CAPTURE(collective, barrier, Kind::Barrier)
    ->Args({2, 0})
    ->Args({4, 0})
    ->ArgNames({"ranks", "bytes"})
    ->UseManualTime()
    ->Unit(benchmark::kMillisecond);

}  // namespace
