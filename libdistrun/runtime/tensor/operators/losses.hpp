#pragma once
// How far predictions of classes are from the truth. Inputs are [N, C] or [N, C, ...], one number for each of C
// classes, or [C]; targets are int64 [N], [N, ...] or [], the class of each sample. Losses are added up in double,
// sample by sample. mse_loss: reduce.hpp.
#include <distrun/runtime/tensor/core/tensor.hpp>

namespace distrun::tensor {

enum class Reduction : std::uint8_t { None, Mean, Sum };  // None: the loss of each sample
// "none", "mean", "sum". Throws Error{InvalidArgument}.
Reduction parse_reduction(const char* op, std::string_view name);

struct NllLossOptions {
  Tensor weight{};                        // [C], of the input's dtype: a factor for each class; undefined: 1
  std::int64_t ignore_index = -100;       // samples of that class are left out
  Reduction reduction = Reduction::Mean;  // Mean: over the weights of all samples; of none it is not a number
};

struct CrossEntropyOptions {
  Tensor weight{};
  std::int64_t ignore_index = -100;
  Reduction reduction = Reduction::Mean;
  double label_smoothing = 0;  // 0 .. 1: the share of the truth that all classes get alike
};

namespace plain {

// Minus the logarithm of the probability of the class that it is, of logarithms (log_softmax). Throws
// Error{InvalidArgument} for a class that is none; to see them it waits for the device, as cross_entropy does.
Tensor nll_loss(const Tensor& log_probabilities, const Tensor& target, const NllLossOptions& options = {});
Tensor nll_loss_gradient(const Tensor& gradient, const Dims& sizes, const Tensor& target,
                         const NllLossOptions& options);

// The same of any numbers, the softmax of which are the probabilities.
Tensor cross_entropy(const Tensor& logits, const Tensor& target, const CrossEntropyOptions& options = {});
// In two steps, of which the first result is kept for the gradient: log_softmax() along the dimension of the classes.
std::int64_t class_dim(const Tensor& input) noexcept;
Tensor cross_entropy_of_logarithms(const Tensor& log_probabilities, const Tensor& target,
                                   const CrossEntropyOptions& options);
// Of the logarithms, and of what they were made of.
Tensor cross_entropy_gradient_of_logarithms(const Tensor& gradient, const Dims& sizes, const Tensor& target,
                                            const CrossEntropyOptions& options);
Tensor cross_entropy_gradient(const Tensor& gradient, const Tensor& log_probabilities, const Tensor& target,
                              const CrossEntropyOptions& options);

}  // namespace plain
}  // namespace distrun::tensor
