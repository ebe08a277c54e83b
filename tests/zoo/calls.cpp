// RPC in both directions, references, futures and distributed gradients.
#include <distrun/dist_autograd.hpp>

#include <mutex>
#include <stdexcept>
#include <thread>

#include "zoo.hpp"

namespace {

using namespace distrun;

std::mutex table;  // of each rank

int sleep_in_handler() {
  sleep(zoo::kPatienceS);  // culprit: handler_sleeps
  return 0;
}
DISTRUN_RPC(sleep_in_handler)

int lock_table() {
  const std::lock_guard lock(table);  // culprit: locks_table
  return 0;
}
DISTRUN_RPC(lock_table)

int call_back(int to) { return rpc_sync(to, lock_table); }
DISTRUN_RPC(call_back)

int meet_in_handler() {
  this_rank().barrier("meet");  // culprit: handler_meets
  return 0;
}
DISTRUN_RPC(meet_in_handler)

int receive_in_handler() {
  this_rank().receive(0, "what rank 0 sends after the call");  // culprit: handler_receives
  return 0;
}
DISTRUN_RPC(receive_in_handler)

Future<int> never_completed() {
  static auto& kept = *new std::vector<Future<int>>;
  return kept.emplace_back();  // culprit: never_completed
}
DISTRUN_RPC_ASYNC(never_completed)

// Calls come and go between the ranks, deeper and deeper, until rank 1 sleeps.
int descend(int depth) {
  if (depth == 0) {
    sleep(zoo::kPatienceS);  // culprit: nested_sleeps
    return 0;
  }
  return rpc_sync<int>(1 - this_rank().rank(), "descend", depth - 1);
}
DISTRUN_RPC(descend)

// Keeps the thread that reads calls busy; so the call that would release it is never read.
std::atomic<bool> released{false};
int occupy() {
  while (!released) std::this_thread::sleep_for(std::chrono::milliseconds(1));  // culprit: starved
  return 0;
}
DISTRUN_RPC_INLINE(occupy)
int release() {
  released = true;
  return 0;
}
DISTRUN_RPC(release)

class Stage {
 public:
  explicit Stage(int seconds) {
    std::this_thread::sleep_for(std::chrono::seconds(seconds));
  }  // culprit: owner_constructs
  int forward(int batch) const { return batch; }
};
const auto stage = rpc::RegisterClass<Stage>("ZooStage").constructor<int>().method("forward", &Stage::forward);

void end_rpc(Rank& rank) {
  rank.barrier("all are done");
  rpc::shutdown();
}

}  // namespace

DISTRUN_TEST(Calls, whose_handler_sleeps) {
  init_rpc(rank);
  if (rank.rank() == 0) rpc_sync(1, sleep_in_handler);
  end_rpc(rank);
}

// Each main thread holds its table and calls the other rank; the handler there wants the same table.
DISTRUN_TEST(Calls, in_both_directions_under_a_lock) {
  init_rpc(rank);
  {
    const std::lock_guard lock(table);
    rank.barrier("both have locked");
    rpc_sync(1 - rank.rank(), lock_table);  // culprit: under_lock
  }
  end_rpc(rank);
}

// Rank 0 holds its table and calls rank 1; the handler calls back and wants that table.
DISTRUN_TEST(Calls, that_call_back_for_a_held_lock) {
  init_rpc(rank);
  if (rank.rank() == 0) {
    const std::lock_guard lock(table);
    rpc_sync(1, call_back, 0);  // culprit: calls_back
  }
  end_rpc(rank);
}

DISTRUN_TEST(Calls, whose_handler_meets_the_caller) {
  init_rpc(rank);
  if (rank.rank() == 0) rpc_sync(1, meet_in_handler);  // culprit: handler_meets
  if (rank.rank() == 0) rank.barrier("meet");
  end_rpc(rank);
}

DISTRUN_TEST(Calls, whose_handler_receives) {
  init_rpc(rank);
  if (rank.rank() == 0) {
    rpc_sync(1, receive_in_handler);  // culprit: handler_receives
    rank.send(1, "what rank 0 sends after the call", "");
  }
  end_rpc(rank);
}

DISTRUN_TEST(Calls, whose_future_is_never_completed) {
  init_rpc(rank);
  if (rank.rank() == 0) rpc_sync(1, never_completed);  // culprit: never_completed
  end_rpc(rank);
}

DISTRUN_TEST(Calls, that_are_nested) {
  init_rpc(rank);
  if (rank.rank() == 0) rpc_sync(1, descend, 4);
  end_rpc(rank);
}

DISTRUN_TEST(Calls, to_a_starved_pool) {
  init_rpc(rank);
  if (rank.rank() == 0) {
    const auto occupied = rpc_async(1, occupy);
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    rpc_sync(1, release);  // culprit: starved
    occupied.wait();
  }
  end_rpc(rank);
}

DISTRUN_TEST(Calls, without_a_worker_that_begins) {
  if (rank.rank() == 1) sleep(zoo::kPatienceS);  // culprit: never_begins
  init_rpc(rank);
}

DISTRUN_TEST(Calls, without_a_worker_that_shuts_down) {
  init_rpc(rank);
  if (rank.rank() == 1) sleep(zoo::kPatienceS);  // culprit: never_shuts_down
  rpc::shutdown();
}

// ---- references

DISTRUN_TEST(References, whose_owner_is_stuck) {
  init_rpc(rank);
  if (rank.rank() == 0) remote<Stage>(1, "ZooStage", 60).rpc_sync(&Stage::forward, 1);
  end_rpc(rank);
}

DISTRUN_TEST(References, to_a_result_that_does_not_come) {
  init_rpc(rank);
  if (rank.rank() == 0) remote(1, sleep_in_handler).to_here();
  end_rpc(rank);
}

// ---- futures

DISTRUN_TEST(Futures, nobody_completes) {
  zoo::others_meet(rank, [] {
    const Future<int> answer;
    answer.wait();  // culprit: future
  });
}

DISTRUN_TEST(Futures, whose_callback_threw) {
  zoo::others_meet(rank, [] {
    const Future<int> first;
    const Future<int> last;
    first.add_done_callback([&last](const Future<int>& done) {
      if (done.value() == 1) throw std::runtime_error("the callback is broken");  // culprit: callback_threw
      last.set_result(2);
    });
    first.set_result(1);
    last.wait();  // culprit: callback_threw
  });
}

// ---- distributed gradients

// The gradient comes back to rank 1; a hook there wants the table, which the main thread holds in the barrier.
DISTRUN_TEST(Gradients, through_a_hook_that_locks) {
  init_rpc(rank);
  const dist_autograd::ContextScope context;
  if (rank.rank() == 0) {
    const Tensor weight = set_requires_grad(ones({3}));
    const Tensor twice = rpc_sync<Tensor>(1, "zoo_twice", weight);
    rank.barrier("forward is done");
    dist_autograd::backward(context.id(), {sum(twice)});  // culprit: hook_locks
    rank.barrier("meet");
  } else {
    const std::lock_guard lock(table);
    rank.barrier("forward is done");
    rank.barrier("meet");  // culprit: hook_locks
  }
  end_rpc(rank);
}

DISTRUN_TEST(Gradients, through_a_hook_that_sleeps) {
  init_rpc(rank);
  const dist_autograd::ContextScope context;
  if (rank.rank() == 0) {
    const Tensor weight = set_requires_grad(ones({3}));
    const Tensor twice = rpc_sync<Tensor>(1, "zoo_slow_twice", weight);
    dist_autograd::backward(context.id(), {sum(twice)});
  }
  end_rpc(rank);
}

namespace {

Tensor zoo_twice(const Tensor& x) {
  const Tensor y = mul(x, 2);
  register_hook(y, [](const Tensor&) {
    const std::lock_guard lock(table);  // culprit: hook_locks
  });
  return y;
}
DISTRUN_RPC(zoo_twice)

Tensor zoo_slow_twice(const Tensor& x) {
  const Tensor y = mul(x, 2);
  register_hook(y, [](const Tensor&) {
    sleep(zoo::kPatienceS);  // culprit: hook_sleeps
  });
  return y;
}
DISTRUN_RPC(zoo_slow_twice)

}  // namespace
