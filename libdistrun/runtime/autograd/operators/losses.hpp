#pragma once
// Losses of class predictions. For shapes and errors see <distrun/runtime/tensor/operators/losses.hpp>. Targets and
// weights get no gradient.
#include <distrun/runtime/tensor/operators/losses.hpp>

namespace distrun {

using tensor::CrossEntropyOptions;
using tensor::NllLossOptions;
using tensor::Reduction;

Tensor nll_loss(const Tensor& log_probabilities, const Tensor& target, const NllLossOptions& options = {});
// Is one node of the graph, unlike log_softmax() and nll_loss().
Tensor cross_entropy(const Tensor& logits, const Tensor& target, const CrossEntropyOptions& options = {});

}  // namespace distrun
