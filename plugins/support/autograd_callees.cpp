#include "autograd_callees.hpp"

#include <array>
#include <atomic>
#include <chrono>
#include <mutex>
#include <thread>
#include <utility>

#include <distrun/common/base/deadline.hpp>
#include <distrun/dist_autograd.hpp>
#include <distrun/runtime/rpc/graph/run.hpp>

#include "autograd_graphs.hpp"
#include "rpc_state.hpp"
#include "thrown.hpp"

namespace distrun::suites {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t kSlots = 4;
constexpr std::chrono::minutes kCheckWaitMax{5};  // far beyond the duration of any passing test

struct Slot {
  Future<void> done;
  bool is_done = false;  // or about to be
  ContextId ctx_id = -1;
};
struct Told {
  std::mutex mutex;
  // Guarded by mutex.
  std::array<Slot, kSlots> slots;
  std::set<ContextId> known;
};
PerRank<Told>& told() {
  static PerRank<Told> all;
  return all;
}

struct OwnLeaf {
  const Tensor tensor = create_tensor();
};
PerRank<OwnLeaf>& own_leaf() {
  static PerRank<OwnLeaf> all;
  return all;
}

struct Simulation {
  std::atomic<bool> is_on{true};
};
PerRank<Simulation>& simulation() {
  static PerRank<Simulation> all;
  return all;
}

std::string worker(std::int64_t rank) { return "worker" + std::to_string(rank); }

Slot& slot_of(Told& here, std::int64_t rank_distance) { return here.slots.at(static_cast<std::size_t>(rank_distance)); }

Tensor run_graph_here(const Graph& graph, rpc::ValueList arguments) {
  return rpc::from_value<Tensor>(rpc::run_graph(*graph, std::move(arguments)));
}

bool is_gone(ContextId id) {
  return thrown_by([&] { dist_autograd::retrieve_context(id); }) ==
         an_error("RuntimeError", "Could not find autograd context with id: " + std::to_string(id));
}

// `ps` computes the sum, and releases this worker's context by setting its slot 0.
template <class MakeSum>
void train(const std::string& ps, std::int64_t rank_diff, bool sparse, const MakeSum& make_sum) {
  const dist_autograd::ContextScope context;
  const Tensor made = make_sum();
  if (made.is_sparse() != sparse) throw Error(ErrorKind::Failed, "RuntimeError", "another layout was announced");
  dist_autograd::backward(context.id(), {sum(made)});
  rpc_sync(ps, set_rpc_done, context.id(), rank_diff);
  rpc_sync(ps, check_rpc_done, 0);
}

}  // namespace

void set_rpc_done(std::optional<ContextId> ctx_id, std::int64_t rank_distance) {
  const auto here = told().here();
  std::unique_lock lock(here->mutex);
  Slot& slot = slot_of(*here, rank_distance);
  slot.ctx_id = ctx_id.value_or(-1);
  if (ctx_id) here->known.insert(*ctx_id);
  if (std::exchange(slot.is_done, true)) return;
  lock.unlock();
  slot.done.set_result();
}
DISTRUN_RPC(set_rpc_done, "ctx_id", "rank_distance")

void check_rpc_done(std::int64_t rank_distance) { slot_of(*told().here(), rank_distance).done.wait(kCheckWaitMax); }
DISTRUN_RPC(check_rpc_done, "rank_distance")

ContextId ctx_id_at(std::int64_t rank_distance) {
  const auto here = told().here();
  const std::lock_guard lock(here->mutex);
  return slot_of(*here, rank_distance).ctx_id;
}

ContextId await_ctx_id(std::int64_t rank_distance) {
  check_rpc_done(rank_distance);
  return ctx_id_at(rank_distance);
}

std::set<ContextId> known_context_ids() {
  const auto here = told().here();
  const std::lock_guard lock(here->mutex);
  return here->known;
}

bool all_contexts_cleaned_up(double timeout) {
  std::set<ContextId> left = known_context_ids();
  const auto end = base::deadline_after(base::nanoseconds_of(timeout));
  while (!left.empty() && Clock::now() < end) std::erase_if(left, is_gone);
  return left.empty();
}

Tensor requires_grad_tensor() { return own_leaf().here()->tensor; }

void renew_autograd_state() {
  told().renew();
  own_leaf().renew();
  simulation().renew();
}

Tensor torch_ones(std::vector<std::int64_t> sizes, std::optional<bool> requires_grad) {
  return set_requires_grad(ones(sizes), requires_grad.value_or(false));
}
DISTRUN_RPC(torch_ones, "sizes", "requires_grad")

Tensor create_tensor() { return set_requires_grad(ones({3, 3})); }
DISTRUN_RPC(create_tensor)

Tensor create_torchscript_tensor() { return set_requires_grad(run_graph_here(script_ones(), {})); }
DISTRUN_RPC(create_torchscript_tensor)

Tensor sparse_leaf(bool requires_grad, DType dtype) {
  const Tensor places = from_values<std::int64_t>({0, 1, 1, 2, 0, 2}, {2, 3});
  const Tensor elements = tensor::to(from_values<double>({3.2, 4.1, 5.3}), dtype);
  return set_requires_grad(sparse_coo(places, elements, {3, 3}), requires_grad);
}

Tensor build_sparse_leaf(std::optional<bool> coalesce, std::optional<bool> requires_grad) {
  const Tensor made = sparse_leaf(requires_grad.value_or(true));
  return coalesce.value_or(false) ? distrun::coalesce(made) : made;
}
DISTRUN_RPC(build_sparse_leaf, "coalesce", "requires_grad")

Tensor ret_requires_grad() { return requires_grad_tensor(); }
DISTRUN_RPC(ret_requires_grad)

Tensor my_py_add(Tensor t1, Tensor t2) { return add(t1, t2); }
DISTRUN_RPC(my_py_add, "t1", "t2")

std::int64_t my_scalar_add(std::int64_t a, std::int64_t b) { return a + b; }
DISTRUN_RPC(my_scalar_add, "a", "b")

Tensor my_rref_add(RRef<Tensor> rref_t1, Tensor t2) { return add(rref_t1.local_value(), t2); }
DISTRUN_RPC(my_rref_add, "rref_t1", "t2")

Tensor my_script_ref_add(RRef<Tensor> ref_t1, Tensor t2) {
  return run_graph_here(my_script_add(), {rpc::to_value(ref_t1.to_here()), rpc::to_value(t2)});
}
DISTRUN_RPC(my_script_ref_add, "ref_t1", "t2")

Tensor my_nested_rref_add(std::string dst, RRef<Tensor> rref_t1, Tensor t2) {
  return rpc_sync(dst, my_rref_add, rref_t1, t2);
}
DISTRUN_RPC(my_nested_rref_add, "dst", "rref_t1", "t2")

Tensor my_py_nested_call(Tensor t1, Tensor t2, std::int64_t dst, std::int64_t world_size, std::int64_t hops) {
  const std::int64_t next_dst = (dst + 1) % world_size;
  if (hops == 0) return rpc_sync(worker(next_dst), my_py_add, t1, t2);
  return rpc_sync(worker(next_dst), my_py_nested_call, t1, t2, next_dst, world_size, hops - 1);
}
DISTRUN_RPC(my_py_nested_call, "t1", "t2", "dst", "world_size", "hops")

Tensor test_nested_backward_accumulate_grads(Tensor t1, Tensor t2, std::int64_t dst) {
  return rpc_sync<Tensor>(worker(dst), "add", t1, t2);
}
DISTRUN_RPC(test_nested_backward_accumulate_grads, "t1", "t2", "dst_rank")

Tensor slow_add_leaf(Tensor t1, Tensor t2) {
  std::this_thread::sleep_for(std::chrono::seconds(1));
  return set_requires_grad(t1 + t2);
}
DISTRUN_RPC(slow_add_leaf, "t1", "t2")

Tensor nested_python_udf(Tensor t1, Tensor t2, std::int64_t dst) {
  const Tensor t3 = t1 * t2, t4 = t1 + t2;
  const Tensor res = rpc_sync(worker(dst), my_py_add, t3, t4);
  return t1 * t2 * t3 * t4 * res;
}
DISTRUN_RPC(nested_python_udf, "t1", "t2", "dst")

Tensor mixed_requires_grad_operation(Tensor t1, Tensor t2) { return requires_grad(t2) ? t1 - t2 : t1 * t2; }
DISTRUN_RPC(mixed_requires_grad_operation, "t1", "t2")

Tensor complex_python_udf(Tensor t1, Tensor t2) {
  const Tensor t3 = linear(t1, t2);
  const Tensor t4 = linear(t2, t3);
  const Tensor t5 = linear(t3, t4);
  return multi_dot({t1, t2, t3, t4, t5});
}
DISTRUN_RPC(complex_python_udf, "t1", "t2")

Tensor SimulateBackwardError::forward(autograd::FunctionContext& /*context*/, const Tensor& input) { return input; }
TensorList SimulateBackwardError::backward(autograd::FunctionContext& /*context*/, TensorList gradients) {
  if (!simulation().here()->is_on) return gradients;
  throw Error(ErrorKind::Failed, "RuntimeError", "Simulate error on backward pass");
}
void simulate_backward_errors(bool on) { simulation().here()->is_on = on; }

Tensor python_udf_with_backward_error(Tensor t1, Tensor t2) {
  const Tensor t3 = t1 + t2;
  return multi_dot({t1, t2, t3, apply<SimulateBackwardError>(t3)});
}
DISTRUN_RPC(python_udf_with_backward_error, "t1", "t2")

Tensor nested_rpc_call_backward_error(Tensor t1, Tensor t2, std::int64_t dst) {
  const Tensor product = t1 * t2;
  const Tensor both = product + t2;
  return multi_dot({product, both, rpc_sync(worker(dst), python_udf_with_backward_error, product, both)});
}
DISTRUN_RPC(nested_rpc_call_backward_error, "t1", "t2", "dst")

bool compare_owner_value(ContextId context_id, RRef<Tensor> rref, Tensor grad) {
  const Tensor found = dist_autograd::get_gradients(context_id).at(rref.local_value());
  return found.is_sparse() == grad.is_sparse() && equal(to_dense(found), to_dense(grad));
}
DISTRUN_RPC(compare_owner_value, "context_id", "rref", "grad")

void run_trainer(RRef<Tensor> rref_t1, Tensor t2, std::string ps, std::int64_t rank_diff, bool sparse) {
  train(ps, rank_diff, sparse, [&] { return rpc_sync(ps, my_rref_add, rref_t1, t2); });
}
DISTRUN_RPC(run_trainer, "rref_t1", "t2", "ps", "rank_diff", "sparse")

void run_trainer_torchscript(RRef<Tensor> rref_t1, Tensor t2, std::string ps, std::int64_t rank_diff, bool sparse) {
  train(ps, rank_diff, sparse, [&] { return rpc_sync(ps, my_script_ref_add, rref_t1, t2); });
}
DISTRUN_RPC(run_trainer_torchscript, "rref_t1", "t2", "ps", "rank_diff", "sparse")

}  // namespace distrun::suites
