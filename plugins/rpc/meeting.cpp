// Synchronisation of workers by RPC: all of them, some, and from several threads at once.
#include "suites.hpp"

#include <thread>

#include <distrun/runtime/core/thread_state.hpp>
#include <distrun/runtime/rpc/session/hooks.hpp>

using namespace distrun;
using namespace distrun::suites;

namespace {

constexpr int kUnevenCalls = 30;
constexpr double kSlow = 0.5;  // seconds, to pack and to unpack

const std::set<std::string> kAll{"worker0", "worker1", "worker2", "worker3"};

// Rank 0 has work for one worker, then for another; idle workers serve meanwhile.
template <class Heavy>
void work_unevenly(const Rank& rank, const Tensor& tensor, Heavy heavy) {
  if (rank.rank() != 0) return;
  for (const char* const peer : {"worker1", "worker2"}) {
    std::vector<Future<std::int64_t>> futures;
    for (int i = 0; i < kUnevenCalls; ++i) futures.push_back(rpc_async(peer, heavy, tensor));
    if (peer == std::string("worker1")) {
      for (const auto& each : collect_all(futures).wait()) DISTRUN_EXPECT(each.wait() == 0);
    } else {
      DISTRUN_EXPECT(wait_all(futures) == std::vector<std::int64_t>(kUnevenCalls, 0));
    }
  }
}

template <class Heavy>
void wait_for_workers(Rank& rank, const Tensor& tensor, Heavy heavy, int times) {
  rank.barrier("all have begun");
  open_group(rank);
  start_rpc(rank);
  work_unevenly(rank, tensor, heavy);
  for (int i = 0; i < times; ++i) rpc::wait_all_workers();
  DISTRUN_EXPECT(rpc::is_initialized());
  group_barrier();
  rpc::shutdown({.graceful = false});
  DISTRUN_EXPECT(!rpc::is_initialized());
}

// All of the group synchronise on the leader's counter, before and after each of them has counted.
void count_in_group(const std::set<std::string>& names, bool look = true) {
  const std::string leader = *names.begin();
  const bool is_leader = look && rpc::get_worker_info().name() == leader;
  rpc_sync(leader, reset_count);
  if (is_leader) DISTRUN_EXPECT(get_count() == 0);
  rpc::barrier(names);
  rpc_sync(leader, increment_count);
  rpc::barrier(names);
  if (is_leader) DISTRUN_EXPECT(get_count() == static_cast<std::int64_t>(names.size()));
}

// Runs `body` on `count` threads of this rank; rethrows the first thread's error.
void on_threads(Rank& rank, int count, const std::function<void()>& body) {
  std::vector<std::exception_ptr> errors(static_cast<std::size_t>(count));
  std::vector<std::thread> threads;
  const core::ThreadState state = core::thread_state();
  for (std::exception_ptr& error : errors) {
    threads.emplace_back([&rank, &body, &error, &state] {
      const RankBinding bound(rank);
      const core::ThreadStateGuard travelled(state);
      try {
        body();
      } catch (...) {
        error = std::current_exception();
      }
    });
  }
  for (std::thread& each : threads) each.join();
  for (const std::exception_ptr& error : errors) {
    if (error) std::rethrow_exception(error);
  }
}

}  // namespace

DISTRUN_TEST(RpcTest, wait_all_workers_dense) { wait_for_workers(rank, square(100), heavy_rpc, 1); }
DISTRUN_TEST(RpcTest, wait_all_workers_twice_dense) { wait_for_workers(rank, square(100), heavy_rpc, 2); }

DISTRUN_TEST(TensorPipeAgentRpcTest, wait_all_workers_sparse) {
  wait_for_workers(rank, build_sparse_tensor(), heavy_rpc_sparse, 1);
}
DISTRUN_TEST(TensorPipeAgentRpcTest, wait_all_workers_twice_sparse) {
  wait_for_workers(rank, build_sparse_tensor(), heavy_rpc_sparse, 2);
}

DISTRUN_TEST_F(RpcTest, graceful_shutdown_with_uneven_workload) { work_unevenly(rank, square(100), heavy_rpc); }

// One step of the shutdown is slower than its timeout.
DISTRUN_TEST(RpcTest, wait_all_workers_timeout) {
  rank.barrier("all have begun");
  open_group(rank);
  start_rpc(rank);
  {
    rpc::SessionHooks hooks;
    hooks.wait_all_workers = [](double timeout) {
      rpc::all_gather(rpc::to_value(SlowPickleClass{kSlow}), {}, timeout);
    };
    const rpc::UseHooks slow(hooks);
    const char* const part = rank.rank() == 0 ? "timed out in _all_gather after 0.01 seconds" : "";
    DISTRUN_EXPECT(thrown_by([] { rpc::shutdown({.graceful = true, .timeout = 0.01}); }) ==
                   an_error("RuntimeError", part));
  }
  DISTRUN_EXPECT(!rpc::is_initialized());
  group_barrier();
}

DISTRUN_TEST_F(RpcTest, all_gather) {
  const auto ids = rpc::all_gather(rpc::to_value(rpc::get_worker_info().id()));
  DISTRUN_REQUIRE(ids.size() == 4u);
  for (int other = 0; other < 4; ++other) {
    DISTRUN_EXPECT(rpc::from_value<int>(ids.at(rank.worker_name(other))) == other);
  }
}

DISTRUN_TEST_F(RpcTest, all_gather_timeout) {
  rpc::set_rpc_timeout(0.1);
  const Thrown thrown = thrown_by([] { rpc::all_gather(rpc::to_value(SlowPickleClass{kSlow})); });
  if (rank.rank() == 0) {
    DISTRUN_EXPECT(thrown == an_error("RuntimeError", "timed out in _all_gather after 0.10 seconds"));
  } else {
    DISTRUN_EXPECT(thrown == a_timeout());
  }
}

DISTRUN_TEST_F(RpcTest, rpc_barrier_all) {
  count_in_group(kAll);
  DISTRUN_EXPECT(rpc::is_initialized());
}

DISTRUN_TEST_F(RpcTest, rpc_barrier_subset) {
  count_in_group(rank.rank() % 2 == 1 ? std::set<std::string>{"worker1", "worker3"}
                                      : std::set<std::string>{"worker0", "worker2"});
  DISTRUN_EXPECT(rpc::is_initialized());
}

DISTRUN_TEST_F(RpcTest, rpc_barrier_partial_subset) {
  count_in_group(rank.rank() % 2 == 1 ? std::set<std::string>{"worker1", "worker3"}
                                      : std::set<std::string>{std::string(rank.worker_name())});
  DISTRUN_EXPECT(rpc::is_initialized());
}

DISTRUN_TEST_F(RpcTest, rpc_barrier_multithreaded) {
  on_threads(rank, 3, [] { count_in_group(kAll, false); });
  DISTRUN_EXPECT(rpc::is_initialized());
}
