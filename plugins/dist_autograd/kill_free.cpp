// Passes that cannot succeed: lost workers, which just leave their session without notice, and an unused result.
#include <future>

#include <distrun/common/base/thread.hpp>

#include "suites.hpp"

using namespace distrun;
using namespace distrun::suites;
using namespace std::chrono_literals;
using dist_autograd::ContextScope;

namespace {

// The session's timeout in seconds: short, so that lost workers are noticed soon.
constexpr double kRpcTimeout = 5;
// How long a pass that cannot end is watched, and its timeout.
constexpr std::chrono::seconds kPatience{10};
constexpr double kPassTimeout = 12;

void leave() { rpc::shutdown({.graceful = false}); }

// A pass over results of lost workers throws an error that names one of them.
WantedError a_loss(std::string name) { return {"", std::move(name), ErrorKind::Disconnected}; }

// Waits for a gradient of `unused`, which the root does not depend on.
void pass_with_unused_send(const Rank& rank) {
  const ContextScope context;
  const Tensor a = leaf(), b = leaf();
  const Tensor unused = rpc_sync<Tensor>(next_worker(rank), "add", a, b);
  dist_autograd::backward(context.id(), {sum(mul(a, b))}, {.mode = dist_autograd::Mode::Fast, .timeout = kPassTimeout});
}

// The same in the mode that computes the root's dependencies.
void expect_unused_send_is_no_obstacle(const Rank& rank) {
  const ContextScope context;
  const Tensor a = leaf(), b = leaf();
  const Tensor unused = rpc_sync<Tensor>(next_worker(rank), "add", a, b);
  dist_autograd::backward(context.id(), {sum(mul(a, b))});
  const auto gradients = dist_autograd::get_gradients(context.id());
  DISTRUN_EXPECT(what_differs(gradients.at(a), detach(b)) == "");
  DISTRUN_EXPECT(what_differs(gradients.at(b), detach(a)) == "");
}

}  // namespace

DISTRUN_TEST_F(DistAutogradTest, backward_unused_send_function) {
  std::promise<Thrown> promise;
  std::future<Thrown> pass = promise.get_future();
  const base::Thread other("unused send", [&] {
    const RankBinding bound(rank);
    try {
      promise.set_value(thrown_by([&] { pass_with_unused_send(rank); }));
    } catch (...) {
      promise.set_exception(std::current_exception());
    }
  });
  const bool is_running = pass.wait_for(kPatience) == std::future_status::timeout;
  DISTRUN_EXPECT(is_running);
  DISTRUN_EXPECT(pass.get() == (WantedError{"", "add", ErrorKind::Timeout}));  // the call that it waited for
  expect_unused_send_is_no_obstacle(rank);
}

DISTRUN_TEST_F(DistAutogradTest, backward_node_failure) {
  rpc::set_rpc_timeout(kRpcTimeout);
  open_group(rank);
  {
    const ContextScope context;
    const Tensor there = rpc_sync<Tensor>(next_worker(rank), "add", leaf(), leaf());
    group_barrier();
    if (rank.rank() % 2 == 0) {
      for (int odd = 1; odd < rank.world_size(); odd += 2) DISTRUN_EXPECT(wait_until_node_failure(odd) != "");
      DISTRUN_EXPECT(thrown_by([&] { dist_autograd::backward(context.id(), {sum(there)}); }) == a_loss("worker"));
    }
  }
  leave();
}

DISTRUN_TEST_F(DistAutogradTest, backward_node_failure_python_udf) {
  rpc::set_rpc_timeout(kRpcTimeout);
  open_group(rank);
  {
    const std::string is_done = "test_backward_node_failure_python_udf_rank0_done";
    const ContextScope context;
    const std::int64_t to = next_rank(rank);
    const Tensor there =
        rpc_sync(next_worker(rank), my_py_nested_call, leaf(), leaf(), to, std::int64_t{rank.world_size()}, 1);
    group_barrier();
    const auto store = default_group()->store();
    if (rank.rank() == 0) {
      DISTRUN_EXPECT(wait_until_node_failure(2) != "");
      DISTRUN_EXPECT(thrown_by([&] { dist_autograd::backward(context.id(), {sum(there)}); }) == a_loss("worker2"));
      store->set(is_done, "True");
    } else if (rank.rank() != 2) {
      store->wait({is_done}, 10s);
    }
  }
  leave();
}
