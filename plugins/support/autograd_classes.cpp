#include <distrun/dist_autograd.hpp>

#include "autograd_callees.hpp"

namespace distrun::suites {
namespace {

using rpc::RegisterClass;

nn::EmbeddingBagOptions bag_options(const std::string& mode, bool sparse) {
  if (mode == "sum") return {BagMode::Sum, sparse};
  if (mode == "mean") return {BagMode::Mean, sparse};
  throw Error(ErrorKind::InvalidArgument, "ValueError", "no mode of bags: " + mode);
}

// Returns a leaf with the tensor's values on that device.
Tensor leaf_on(const Tensor& tensor, device::Device device) {
  return set_requires_grad(detach(tensor::to(tensor, device)));
}

[[maybe_unused]] const auto kEmbeddingBag =
    RegisterClass<EmbeddingBagObject>("EmbeddingBag")
        .constructor<std::int64_t, std::int64_t, std::optional<std::string>, std::optional<bool>>(
            {"num_embeddings", "embedding_dim", "mode", "sparse"});

[[maybe_unused]] const auto kWrapperModule =
    RegisterClass<WrapperModule>("WrapperModule")
        .constructor<Tensor, Tensor, device::Device>({"weight", "bias", "device"})
        .method("forward", &WrapperModule::forward, {"input"})
        .method("gradients", &WrapperModule::gradients, {"ctx_id"});

[[maybe_unused]] const auto kMyRemoteCompute = RegisterClass<MyRemoteCompute>("MyRemoteCompute")
                                                   .constructor<>()
                                                   .method("forward", &MyRemoteCompute::forward, {"input"});

}  // namespace

EmbeddingBagObject::EmbeddingBagObject(std::int64_t rows, std::int64_t width, std::optional<std::string> mode,
                                       std::optional<bool> sparse)
    : table_(rows, width, bag_options(mode.value_or("mean"), sparse.value_or(false))) {}

Tensor EmbeddingBagObject::forward(const Tensor& indices, const Tensor& offsets, const Tensor& factors) {
  return table_.forward(indices, offsets, factors);
}

Tensor call_remote_embedding(RRef<EmbeddingBagObject> embedding_rref, Tensor input, Tensor offsets,
                             Tensor per_sample_weights) {
  return embedding_rref.local_value()->forward(input, offsets, per_sample_weights);
}
DISTRUN_RPC(call_remote_embedding, "embedding_rref", "input", "offsets", "per_sample_weights")

Tensor get_grad(RRef<EmbeddingBagObject> embedding_rref, ContextId context_id) {
  return dist_autograd::get_gradients(context_id).at(embedding_rref.local_value()->weight());
}
DISTRUN_RPC(get_grad, "embedding_rref", "context_id")

WrapperModule::WrapperModule(Tensor weight, Tensor bias, device::Device device)
    : weight_(leaf_on(weight, device)), bias_(leaf_on(bias, device)) {}

Tensor WrapperModule::forward(Tensor input) const { return linear(input, weight_, bias_); }

TensorList WrapperModule::gradients(ContextId ctx_id) const {
  const auto found = dist_autograd::get_gradients(ctx_id);
  return {found.at(weight_), found.at(bias_)};
}

Tensor MyRemoteCompute::forward(Tensor input) const { return input * 2.0; }

}  // namespace distrun::suites
