#pragma once
// Ranks that call each other, for benchmarks: new processes for each run, so that the benchmark itself has no threads;
// with the agent inproc, threads of one new process.
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <distrun/runtime/store/store.hpp>

namespace distrun::bench {

inline constexpr int kRanksMax = 64;
inline constexpr std::size_t kSamplesMax = 1 << 20;

// Reports of ranks to the benchmark, in shared memory.
struct Told {
  std::atomic<std::uint64_t> count{0};
  double samples[kSamplesMax];  // of rank 0
  double values[kRanksMax][8];  // of each rank
  char error[512];              // of a rank that failed; empty: none
};

// One rank, used on its thread. Its functions are those that a test would call.
class RpcRank {
 public:
  RpcRank(int rank, int ranks, std::string transport, std::shared_ptr<Store> store, Told& told)
      : rank_(rank), ranks_(ranks), transport_(std::move(transport)), store_(std::move(store)), told_(told) {}

  int number() const noexcept { return rank_; }
  int count() const noexcept { return ranks_; }
  bool is_first() const noexcept { return rank_ == 0; }
  // Uses a device map for every other worker that maps each device to the same one there.
  void init(int devices = 0);
  // Serves the others until all are done.
  void shutdown();
  // Waits for all ranks, by the store.
  void meet(const std::string& name);

  void add_sample(double us) noexcept;
  void set_value(std::size_t place, double value) noexcept { told_.values[rank_][place] = value; }

 private:
  const int rank_;
  const int ranks_;
  const std::string transport_;  // "shm", "uds", "tcp", "inproc", or "hosts": tcp, as between ranks of two hosts
  const std::shared_ptr<Store> store_;
  Told& told_;
};

using RankBody = std::function<void(RpcRank& rank)>;

struct Figures {
  std::vector<double> samples;  // in the order in which they were taken
  double value(int rank, std::size_t place) const { return values[static_cast<std::size_t>(rank)][place]; }
  std::vector<std::vector<double>> values;
  std::string error;  // not empty: a rank failed
};
// Returns when all ranks have ended.
Figures run_ranks(int ranks, const std::string& transport, const RankBody& body);

double median_of(std::vector<double> values);
double percentile_of(std::vector<double> values, double part);  // 0.99: p99
double now_us();

}  // namespace distrun::bench
