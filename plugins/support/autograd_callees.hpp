#pragma once
// Functions and classes that ported tests of distributed autograd call remotely, under their original names without
// leading underscores. build_sparse_leaf and slow_add_leaf are renamed, because functions of other suites have those
// names. State is kept per rank.
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <distrun/runtime/autograd/function.hpp>
#include <distrun/runtime/dist_autograd/context.hpp>
#include <distrun/runtime/nn/layers.hpp>
#include <distrun/runtime/rref/rref.hpp>

namespace distrun::suites {

using dist_autograd::ContextId;

// Tells this rank a context of another rank. `rank_distance`, 0 to 3, is how far the sender precedes this rank in the
// ring of ranks; the last call counts. Without a context the slot is only marked as done.
void set_rpc_done(std::optional<ContextId> ctx_id, std::int64_t rank_distance);
// Blocks until set_rpc_done() was called for that distance.
void check_rpc_done(std::int64_t rank_distance);
// Returns -1 if no context was set.
ContextId ctx_id_at(std::int64_t rank_distance);
// Calls check_rpc_done(), then returns the context.
ContextId await_ctx_id(std::int64_t rank_distance);
std::set<ContextId> known_context_ids();
// Looks up all of them repeatedly; returns false if one still exists after `timeout` seconds.
bool all_contexts_cleaned_up(double timeout = 10);
// Returns this rank's leaf, ones(3, 3).
Tensor requires_grad_tensor();
// Resets all state kept here, before any rank calls: ranks may persist from one test to the next.
void renew_autograd_state();

// Create tensors on the called worker.
Tensor torch_ones(std::vector<std::int64_t> sizes, std::optional<bool> requires_grad);
Tensor create_tensor();              // ones(3, 3), a leaf
Tensor create_torchscript_tensor();  // the same, computed by a graph function
// 3 x 3, with 3.2, 4.1 and 5.3 at (0, 2), (1, 0) and (1, 2); by default not coalesced, requiring a gradient. The second
// one is for local use.
Tensor build_sparse_leaf(std::optional<bool> coalesce, std::optional<bool> requires_grad);
Tensor sparse_leaf(bool requires_grad = true, DType dtype = DType::F32);
Tensor ret_requires_grad();  // requires_grad_tensor()

// Return sums.
Tensor my_py_add(Tensor t1, Tensor t2);
std::int64_t my_scalar_add(std::int64_t a, std::int64_t b);
Tensor my_rref_add(RRef<Tensor> rref_t1, Tensor t2);       // on the reference's owner
Tensor my_script_ref_add(RRef<Tensor> ref_t1, Tensor t2);  // of the fetched value, by a graph function
Tensor my_nested_rref_add(std::string dst, RRef<Tensor> rref_t1, Tensor t2);
// Computed by the worker after `dst`, or `hops` workers further; each one forwards the call.
Tensor my_py_nested_call(Tensor t1, Tensor t2, std::int64_t dst, std::int64_t world_size, std::int64_t hops);
// Runs the operator on worker `dst`.
Tensor test_nested_backward_accumulate_grads(Tensor t1, Tensor t2, std::int64_t dst);
Tensor slow_add_leaf(Tensor t1, Tensor t2);  // after a second; the result requires a gradient

// Compute other formulas.
Tensor nested_python_udf(Tensor t1, Tensor t2, std::int64_t dst);  // t1 t2 (t1 t2) (t1 + t2) s; `dst` computes s
Tensor mixed_requires_grad_operation(Tensor t1, Tensor t2);        // t1 - t2 if t2 requires a gradient, else t1 t2
Tensor complex_python_udf(Tensor t1, Tensor t2);                   // linear layers, and the product of all
Tensor python_udf_with_backward_error(Tensor t1, Tensor t2);       // see SimulateBackwardError
Tensor nested_rpc_call_backward_error(Tensor t1, Tensor t2, std::int64_t dst);

// Its backward() throws Error{Failed, "RuntimeError"}, "Simulate error on backward pass", while that is switched on.
struct SimulateBackwardError {
  static Tensor forward(autograd::FunctionContext& context, const Tensor& input);
  static TensorList backward(autograd::FunctionContext& context, TensorList gradients);
};
void simulate_backward_errors(bool on);

// Called on the owner: returns whether its gradient in that context is sparse if `grad` is, and equal bit by bit.
bool compare_owner_value(ContextId context_id, RRef<Tensor> rref, Tensor grad);

// Runs a pass over the sum that my_rref_add() computes on `ps`, in a new context that stays until `ps` sets its slot 0.
// Throws Error{Failed} if the sum is not as sparse as `sparse` says.
void run_trainer(RRef<Tensor> rref_t1, Tensor t2, std::string ps, std::int64_t rank_diff, bool sparse);
// Does the same with my_script_ref_add().
void run_trainer_torchscript(RRef<Tensor> rref_t1, Tensor t2, std::string ps, std::int64_t rank_diff, bool sparse);

// An embedding bag, registered as "EmbeddingBag": `mode` is "sum" or "mean".
class EmbeddingBagObject {
 public:
  EmbeddingBagObject(std::int64_t rows, std::int64_t width, std::optional<std::string> mode,
                     std::optional<bool> sparse);
  Tensor forward(const Tensor& indices, const Tensor& offsets, const Tensor& factors);
  const Tensor& weight() const noexcept { return table_.weight(); }

 private:
  nn::EmbeddingBag table_;
};
// Called on the reference's owner.
Tensor call_remote_embedding(RRef<EmbeddingBagObject> embedding_rref, Tensor input, Tensor offsets,
                             Tensor per_sample_weights);
Tensor get_grad(RRef<EmbeddingBagObject> embedding_rref, ContextId context_id);  // of the table, in that context

// A linear layer with those weights, on that device.
class WrapperModule {
 public:
  WrapperModule(Tensor weight, Tensor bias, device::Device device);
  Tensor forward(Tensor input) const;
  // Returns the gradients of weight and bias in that context.
  TensorList gradients(ContextId ctx_id) const;

 private:
  Tensor weight_, bias_;
};

struct MyRemoteCompute {
  Tensor forward(Tensor input) const;  // twice the input
};

}  // namespace distrun::suites
