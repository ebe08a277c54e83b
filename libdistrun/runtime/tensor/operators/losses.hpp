#pragma once
// Classification losses. Inputs are [N, C] or [N, C, ...], one number for each of C classes, or [C]; targets are int64
// [N], [N, ...] or [], the class of each sample. Losses are added up in double, sample by sample. mse_loss: reduce.hpp.
#include <distrun/runtime/tensor/core/tensor.hpp>

namespace distrun::tensor {

enum class Reduction : std::uint8_t { None, Mean, Sum };  // None: one loss per sample
// "none", "mean", "sum". Throws Error{InvalidArgument}.
Reduction parse_reduction(const char* op, std::string_view name);

// Options of nll_loss().
struct NllLossOptions {
  Tensor weight{};                        // [C], of the input's dtype: a factor per class; undefined: 1
  std::int64_t ignore_index = -100;       // samples of this class are ignored
  Reduction reduction = Reduction::Mean;  // Mean: divides by the sum of the samples' weights; NaN without samples
};

// Options of cross_entropy().
struct CrossEntropyOptions {
  Tensor weight{};                        // as in NllLossOptions
  std::int64_t ignore_index = -100;       // samples of this class are ignored
  Reduction reduction = Reduction::Mean;  // as in NllLossOptions
  double label_smoothing = 0;             // 0 .. 1: share of the target spread evenly over all classes
};

namespace plain {

// Takes logarithms of probabilities (log_softmax) and returns minus the target class's. Throws Error{InvalidArgument}
// for a class out of range; waits for the device to check, as cross_entropy does.
Tensor nll_loss(const Tensor& log_probabilities, const Tensor& target, const NllLossOptions& options = {});
// Returns the gradient of the logarithms, of these sizes.
Tensor nll_loss_gradient(const Tensor& gradient, const Dims& sizes, const Tensor& target,
                         const NllLossOptions& options);

// Is nll_loss() for any numbers; their softmax gives the probabilities.
Tensor cross_entropy(const Tensor& logits, const Tensor& target, const CrossEntropyOptions& options = {});
// Returns the dimension of the classes: 0 for [C], otherwise 1.
std::int64_t class_dim(const Tensor& input) noexcept;
// The second step of cross_entropy(), for log_softmax() along the class dimension, which is kept for the gradient.
Tensor cross_entropy_of_logarithms(const Tensor& log_probabilities, const Tensor& target,
                                   const CrossEntropyOptions& options);
// Returns the gradient of the logarithms.
Tensor cross_entropy_gradient_of_logarithms(const Tensor& gradient, const Dims& sizes, const Tensor& target,
                                            const CrossEntropyOptions& options);
// Returns the gradient of the logits.
Tensor cross_entropy_gradient(const Tensor& gradient, const Tensor& log_probabilities, const Tensor& target,
                              const CrossEntropyOptions& options);

}  // namespace plain
}  // namespace distrun::tensor
