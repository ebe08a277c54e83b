// Contexts of several threads and workers: their owners, the workers that know them, and their lifetime.
#include <exception>
#include <set>

#include <distrun/common/base/thread.hpp>
#include <distrun/runtime/autograd/operators/operator_table.hpp>

#include "scenarios.hpp"
#include "suites_more.hpp"

using namespace distrun;
using namespace distrun::suites;
using dist_autograd::ContextId;
using dist_autograd::ContextScope;

namespace {

constexpr std::size_t kPassesPerRank = 20;

// `call` applies an operator to two tensors.
template <class Call>
Tensor sum_of_four_operators(const Tensor& a, const Tensor& b, const Call& call) {
  const Tensor c = call("add", a, b), d = call("mul", b, c), e = call("matmul", c, d);
  return sum(call("add", d, e));
}

Tensor call_here(const std::string& name, const Tensor& a, const Tensor& b) {
  const std::vector<tensor::Value> arguments{a, b};
  return std::get<Tensor>(autograd::call_operator(name, arguments));
}
Tensor call_worker0(const std::string& name, const Tensor& a, const Tensor& b) {
  return rpc_sync<Tensor>("worker0", name, a, b);
}

// Uses a new context.
void expect_pass_over_worker0() {
  const Tensor a = leaf(), b = leaf();
  const TensorList expected = gradients({sum_of_four_operators(a, b, call_here)}, {a, b});
  const ContextScope context;
  dist_autograd::backward(context.id(), {sum_of_four_operators(a, b, call_worker0)});
  const auto made = dist_autograd::get_gradients(context.id());
  DISTRUN_EXPECT(made.size() == 2u);
  DISTRUN_EXPECT(what_differs(made.at(a), expected[0]) == "");
  DISTRUN_EXPECT(what_differs(made.at(b), expected[1]) == "");
}

// Runs `body` on `count` threads; rethrows the first thread's error.
void on_threads(Rank& rank, std::size_t count, void (*body)()) {
  std::vector<std::exception_ptr> errors(count);
  {
    std::vector<base::Thread> threads;
    for (std::exception_ptr& error : errors) {
      threads.emplace_back("pass", [&rank, &error, body] {
        const RankBinding bound(rank);
        try {
          body();
        } catch (...) {
          error = std::current_exception();
        }
      });
    }
  }
  for (const std::exception_ptr& error : errors) {
    if (error) std::rethrow_exception(error);
  }
}

std::set<rpc::WorkerId> others_of(const Rank& rank) {
  std::set<rpc::WorkerId> others;
  for (int each = 0; each < rank.world_size(); ++each) {
    if (each != rank.rank()) others.insert(each);
  }
  return others;
}

// Returns the workers that the context knows after calls to all others with these arguments.
std::set<rpc::WorkerId> known_after_calls(const Rank& rank, const Tensor& a, const Tensor& b) {
  const auto context = dist_autograd::current_context();
  for (const rpc::WorkerId each : others_of(rank)) {
    rpc_sync<Tensor>(rank.worker_name(each), "add", a, b);
    rpc_sync(rank.worker_name(each), set_rpc_done, context->context_id(), 1);
  }
  return context->known_worker_ids();
}

// The root depends only on a leaf of the next worker, so its gradient is there, in this context only.
template <class Call>
void expect_gradient_at_owner(Rank& rank, const Call& call) {
  open_group(rank);
  const ContextScope context;
  const Tensor there = call();
  dist_autograd::backward(context.id(), {sum(there)});
  rpc_sync(next_worker(rank), set_rpc_done, context.id(), 1);
  const auto of_another = dist_autograd::get_gradients(await_ctx_id(1));
  DISTRUN_EXPECT(of_another.size() == 1u);
  DISTRUN_EXPECT(what_differs(of_another.at(requires_grad_tensor()), ones({3, 3})) == "");
  group_barrier();  // no rank ends a context that another still reads
}

}  // namespace

DISTRUN_TEST_F(DistAutogradTest, autograd_context) {
  constexpr ContextId kCountMax = 281474976710655;
  const ContextId own = rank.rank();
  DISTRUN_EXPECT(dist_autograd::max_id() == kCountMax + (own << 48));
  std::vector<ContextId> ids;
  for (int i = 0; i < 200; ++i) {
    const ContextScope context;
    DISTRUN_EXPECT(dist_autograd::retrieve_context(context.id())->context_id() == context.id());
    DISTRUN_EXPECT((context.id() >> 48) == own);
    ids.push_back(context.id());
  }
  for (const ContextId each : ids) {
    DISTRUN_EXPECT(thrown_by([&] { dist_autograd::retrieve_context(each); }) ==
                   an_error("RuntimeError", "Could not find autograd context with id: " + std::to_string(each)));
  }
}

DISTRUN_TEST_F(DistAutogradTest, worker_ids_recorded) {
  const ContextScope context;
  const Tensor a = ones({3, 3}), b = zeros({3, 3});
  DISTRUN_EXPECT((known_after_calls(rank, a, b) == others_of(rank)));
  set_requires_grad(a);
  set_requires_grad(b);
  DISTRUN_EXPECT((known_after_calls(rank, a, b) == others_of(rank)));
}

DISTRUN_TEST_F(DistAutogradTest, grad_only_on_return_value) {
  expect_gradient_at_owner(rank, [&] { return rpc_sync(next_worker(rank), ret_requires_grad); });
}

DISTRUN_TEST_F(DistAutogradTest, grad_only_on_return_value_remote) {
  expect_gradient_at_owner(rank, [&] { return remote(next_worker(rank), ret_requires_grad).to_here(); });
}

// The context is also sent with calls that have no tensors.
DISTRUN_TEST_F(DistAutogradTest, context_cleanup_no_tensors) {
  expect_contexts_cleaned_up(rank, [](const std::string& worker) { rpc_sync(worker, my_scalar_add, 1, 1); });
}

// Graphs compute both sides of the sum.
DISTRUN_TEST_F(DistAutogradTest, trainer_ps_torchscript_functions) {
  const std::string self(rank.worker_name());
  expect_trained(rank, run_trainer_torchscript, remote(self, create_torchscript_tensor), ones_and_zeros());
}

// The thread that returns the value began to compute it before there was a context.
DISTRUN_TEST_F(DistAutogradTest, thread_local_context_id) {
  const Tensor a = rand({3, 3}), b = rand({3, 3});
  const Tensor here = set_requires_grad(a + b);
  backward(sum(here));
  const auto there = remote(next_worker(rank), slow_add_leaf, a, b);
  const ContextScope context;
  dist_autograd::backward(context.id(), {sum(there.to_here())});
  DISTRUN_EXPECT(rpc_sync(next_worker(rank), compare_owner_value, context.id(), there, grad(here)));
}

// Runs more concurrent passes than worker0 has threads.
DISTRUN_TEST_F(DistAutogradTest, async_dist_autograd) {
  open_group(rank);
  if (rank.rank() != 0) on_threads(rank, kPassesPerRank, expect_pass_over_worker0);
  group_barrier();
}
