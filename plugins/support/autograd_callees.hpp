#pragma once
// Functions and classes of ported tests of distributed autograd that others call, under the names that they have there,
// without underscores before them; build_sparse_leaf and slow_add_leaf have names of their own, because other suites'
// functions have theirs. What they keep, they keep per rank.
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

// What others have told this rank of their contexts. Each has told it as the one that is so far before this rank in the
// ring of ranks, 0 to 3; the last one counts. A slot without a context is only done.
void set_rpc_done(std::optional<ContextId> ctx_id, std::int64_t rank_distance);
// Waits until somebody has.
void check_rpc_done(std::int64_t rank_distance);
// -1: nobody has told it.
ContextId ctx_id_at(std::int64_t rank_distance);
// check_rpc_done() and what it has brought.
ContextId await_ctx_id(std::int64_t rank_distance);
std::set<ContextId> known_context_ids();
// Looks all of them up, again and again; false if one is still there after that many seconds.
bool all_contexts_cleaned_up(double timeout = 10);
// ones(3, 3), this rank's own leaf.
Tensor requires_grad_tensor();
// All that is kept here, before anybody calls: ranks may stay from one test to the next.
void renew_autograd_state();

// Tensors that are made where they are called.
Tensor torch_ones(std::vector<std::int64_t> sizes, std::optional<bool> requires_grad);
Tensor create_tensor();              // ones(3, 3), a leaf
Tensor create_torchscript_tensor();  // the same, its elements by a graph function
// 3 x 3, with 3.2, 4.1 and 5.3 at (0, 2), (1, 0) and (1, 2); by default not coalesced, and requiring a gradient. The
// other one is for who calls nobody.
Tensor build_sparse_leaf(std::optional<bool> coalesce, std::optional<bool> requires_grad);
Tensor sparse_leaf(bool requires_grad = true, DType dtype = DType::F32);
Tensor ret_requires_grad();  // requires_grad_tensor()

// Sums.
Tensor my_py_add(Tensor t1, Tensor t2);
std::int64_t my_scalar_add(std::int64_t a, std::int64_t b);
Tensor my_rref_add(RRef<Tensor> rref_t1, Tensor t2);       // by the reference's owner
Tensor my_script_ref_add(RRef<Tensor> ref_t1, Tensor t2);  // of the fetched value, by a graph function
Tensor my_nested_rref_add(std::string dst, RRef<Tensor> rref_t1, Tensor t2);
// By the worker after `dst`, or `hops` workers further, each of which hands it on.
Tensor my_py_nested_call(Tensor t1, Tensor t2, std::int64_t dst, std::int64_t world_size, std::int64_t hops);
// The operator, by the worker `dst`.
Tensor test_nested_backward_accumulate_grads(Tensor t1, Tensor t2, std::int64_t dst);
Tensor slow_add_leaf(Tensor t1, Tensor t2);  // after a second; what it returns requires a gradient

// Other formulas.
Tensor nested_python_udf(Tensor t1, Tensor t2, std::int64_t dst);  // t1 t2 (t1 t2) (t1 + t2) s; `dst` adds up s
Tensor mixed_requires_grad_operation(Tensor t1, Tensor t2);        // t1 - t2 if t2 requires a gradient, else t1 t2
Tensor complex_python_udf(Tensor t1, Tensor t2);                   // linear layers, and the product of all
Tensor python_udf_with_backward_error(Tensor t1, Tensor t2);       // see SimulateBackwardError
Tensor nested_rpc_call_backward_error(Tensor t1, Tensor t2, std::int64_t dst);

// Its backward() throws Error{Failed, "RuntimeError"}, "Simulate error on backward pass", until this rank is told
// otherwise.
struct SimulateBackwardError {
  static Tensor forward(autograd::FunctionContext& context, const Tensor& input);
  static TensorList backward(autograd::FunctionContext& context, TensorList gradients);
};
void simulate_backward_errors(bool on);

// By the reference's owner: its gradient in that context is sparse if `grad` is, and the same to the last bit.
bool compare_owner_value(ContextId context_id, RRef<Tensor> rref, Tensor grad);

// A pass over the sum of my_rref_add() by `ps`, in a context of its own that stays until `ps` lets go of it: its slot
// 0. Throws Error{Failed} if what comes is not sparse as told.
void run_trainer(RRef<Tensor> rref_t1, Tensor t2, std::string ps, std::int64_t rank_diff, bool sparse);
// The same with my_script_ref_add().
void run_trainer_torchscript(RRef<Tensor> rref_t1, Tensor t2, std::string ps, std::int64_t rank_diff, bool sparse);

// A table of bags, "EmbeddingBag": `mode` is "sum" or "mean".
class EmbeddingBagObject {
 public:
  EmbeddingBagObject(std::int64_t rows, std::int64_t width, std::optional<std::string> mode,
                     std::optional<bool> sparse);
  Tensor forward(const Tensor& indices, const Tensor& offsets, const Tensor& factors);
  const Tensor& weight() const noexcept { return table_.weight(); }

 private:
  nn::EmbeddingBag table_;
};
// By the reference's owner.
Tensor call_remote_embedding(RRef<EmbeddingBagObject> embedding_rref, Tensor input, Tensor offsets,
                             Tensor per_sample_weights);
Tensor get_grad(RRef<EmbeddingBagObject> embedding_rref, ContextId context_id);  // of the table, in that context

// A linear layer of those weights, on that device.
class WrapperModule {
 public:
  WrapperModule(Tensor weight, Tensor bias, device::Device device);
  Tensor forward(Tensor input) const;
  // In that context: of weight and bias.
  TensorList gradients(ContextId ctx_id) const;

 private:
  Tensor weight_, bias_;
};

struct MyRemoteCompute {
  Tensor forward(Tensor input) const;  // twice the input
};

}  // namespace distrun::suites
