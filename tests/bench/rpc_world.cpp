#include "rpc_world.hpp"

#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <new>
#include <thread>

#include <distrun/runtime/core/rank_state.hpp>
#include <distrun/runtime/core/thread_state.hpp>
#include <distrun/runtime/rpc/session/session.hpp>
#include <distrun/runtime/store/file_store.hpp>
#include <distrun/runtime/store/hash_store.hpp>

#include "support/end_with.hpp"

namespace distrun::bench {
namespace {

constexpr unsigned kSecondsMax = 1800;  // a process of a world ends itself after that

class SharedTold {
 public:
  SharedTold() {
    void* const shared = ::mmap(nullptr, sizeof(Told), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED) std::abort();
    told_ = new (shared) Told;
  }
  ~SharedTold() { ::munmap(told_, sizeof(Told)); }
  SharedTold(const SharedTold&) = delete;
  SharedTold& operator=(const SharedTold&) = delete;
  Told* operator->() const noexcept { return told_; }
  Told& operator*() const noexcept { return *told_; }

 private:
  Told* told_;
};

void be_rank(RpcRank rank, const RankBody& body, Told& told) {
  try {
    body(rank);
  } catch (const std::exception& error) {
    std::snprintf(told.error, sizeof told.error, "rank %d: %s", rank.number(), error.what());
  }
}

// Each thread has a RankState, as in a run with --isolation threads.
void be_threads(int ranks, const RankBody& body, Told& told) {
  const auto store = std::make_shared<HashStore>();
  std::vector<std::thread> threads;
  for (int rank = 0; rank < ranks; ++rank) {
    threads.emplace_back([&, rank] {
      core::thread_state().rank = new core::RankState;  // never destroyed
      be_rank({rank, ranks, "inproc", store, told}, body, told);
    });
  }
  for (std::thread& thread : threads) thread.join();
}

// Makes the rank believe that it has a host of its own: peers neither share memory nor read each other's.
void be_on_own_host(int rank, int ranks) {
  std::string hosts;
  for (int each = 0; each < ranks; ++each) {
    hosts += (each == 0 ? "host" : ";host") + std::to_string(each) + "=" + std::to_string(each);
  }
  ::setenv("DISTRUN_HOSTS", hosts.c_str(), 1);
  ::setenv("DISTRUN_HOST_ADDRESS", "127.0.0.1", 1);
  ::setenv("DISTRUN_RANK", std::to_string(rank).c_str(), 1);
}

pid_t start(const std::function<void()>& run) {
  const pid_t parent = ::getpid();
  const pid_t pid = ::fork();
  if (pid != 0) return pid;
  distrun::testing::end_with(parent);
  ::alarm(kSecondsMax);
  run();
  std::_Exit(0);
}

}  // namespace

void RpcRank::init(int devices) {
  auto options = std::make_shared<rpc::PipeOptions>();
  options->store = store_;
  if (transport_ == "hosts")
    options->transports = {"tcp"};
  else if (transport_ != "inproc")
    options->transports = {transport_};
  for (int rank = 0; devices > 0 && rank < ranks_; ++rank) {
    for (int device = 0; device < devices; ++device) {
      options->set_device_map("worker" + std::to_string(rank), {{device, device}});
    }
  }
  rpc::InitOptions init;
  init.name = "worker" + std::to_string(rank_);
  init.backend = rpc::find_backend(transport_ == "inproc" ? "inproc" : "pipe");
  init.rank = rank_;
  init.world_size = ranks_;
  init.options = options;
  rpc::init_rpc(init);
}

void RpcRank::shutdown() { rpc::shutdown(); }

void RpcRank::meet(const std::string& name) {
  if (store_->add(name + "/count", 1) == ranks_) store_->set(name + "/all", "");
  store_->wait({name + "/all"});
}

void RpcRank::add_sample(double us) noexcept {
  const std::uint64_t place = told_.count.load(std::memory_order_relaxed);
  if (place == kSamplesMax) return;
  told_.samples[place] = us;
  told_.count.store(place + 1, std::memory_order_release);
}

Figures run_ranks(int ranks, const std::string& transport, const RankBody& body) {
  const SharedTold told;
  std::string folder = std::filesystem::temp_directory_path().string() + "/rpc_bench_XXXXXX";
  (void)!::mkdtemp(folder.data());
  std::vector<pid_t> pids;
  if (transport == "inproc") {
    pids.push_back(start([&] { be_threads(ranks, body, *told); }));
  } else {
    for (int rank = 0; rank < ranks; ++rank) {
      pids.push_back(start([&] {
        if (transport == "hosts") be_on_own_host(rank, ranks);
        be_rank({rank, ranks, transport, std::make_shared<FileStore>(folder + "/store"), *told}, body, *told);
      }));
    }
  }
  Figures figures;
  for (const pid_t pid : pids) {
    int status = 0;
    ::waitpid(pid, &status, 0);
    if (status != 0) figures.error = "a process of the ranks ended with status " + std::to_string(status);
  }
  std::filesystem::remove_all(folder);
  figures.samples.assign(told->samples, told->samples + told->count.load());
  for (int rank = 0; rank < ranks; ++rank) {
    figures.values.emplace_back(std::begin(told->values[rank]), std::end(told->values[rank]));
  }
  if (told->error[0] != 0) figures.error = told->error;
  return figures;
}

double percentile_of(std::vector<double> values, double part) {
  if (values.empty()) return 0;
  const auto place = static_cast<std::ptrdiff_t>(part * static_cast<double>(values.size() - 1));
  std::nth_element(values.begin(), values.begin() + place, values.end());
  return values[static_cast<std::size_t>(place)];
}

double median_of(std::vector<double> values) { return percentile_of(std::move(values), 0.5); }

double now_us() {
  const std::chrono::duration<double, std::micro> now = std::chrono::steady_clock::now().time_since_epoch();
  return now.count();
}

}  // namespace distrun::bench
