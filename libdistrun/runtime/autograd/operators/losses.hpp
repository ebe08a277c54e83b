#pragma once
// Losses of class predictions. For shapes and errors see <distrun/runtime/tensor/operators/losses.hpp>. Targets and
// weights get no gradient.
#include <distrun/runtime/tensor/operators/losses.hpp>

namespace distrun {

using tensor::CrossEntropyOptions;
using tensor::NllLossOptions;
using tensor::Reduction;

// Returns minus the logarithm of the target class's probability, reduced as the options say. Takes logarithms of
// probabilities, as from log_softmax(). Waits for the device to check the classes.
Tensor nll_loss(const Tensor& log_probabilities, const Tensor& target, const NllLossOptions& options = {});
// Is nll_loss() of log_softmax(), for any numbers per class; one node of the graph, unlike the two functions.
Tensor cross_entropy(const Tensor& logits, const Tensor& target, const CrossEntropyOptions& options = {});

}  // namespace distrun
