#include <distrun/runtime/tensor/operators/losses.hpp>

#include <distrun/common/base/error.hpp>
#include <distrun/runtime/tensor/core/copy.hpp>
#include <distrun/runtime/tensor/core/factories.hpp>
#include <distrun/runtime/tensor/core/launch.hpp>
#include <distrun/runtime/tensor/core/shape.hpp>
#include <distrun/runtime/tensor/kernels/instruction_set.hpp>
#include <distrun/runtime/tensor/kernels/line_sums.hpp>
#include <distrun/runtime/tensor/operators/around.hpp>
#include <distrun/runtime/tensor/operators/softmax.hpp>

namespace distrun::tensor {

Reduction parse_reduction(const char* op, std::string_view name) {
  if (name == "none") return Reduction::None;
  if (name == "mean") return Reduction::Mean;
  if (name == "sum") return Reduction::Sum;
  refuse(op, "the reduction must be \"none\", \"mean\" or \"sum\", not \"" + std::string(name.substr(0, 20)) + "\"",
         {});
}

namespace plain {
namespace {

CrossEntropyOptions unsmoothed(const NllLossOptions& options) {
  return {options.weight, options.ignore_index, options.reduction, 0};
}

// Sizes and options of a loss, captured by a launch.
struct ClassLoss {
  Around lines;  // along the classes
  std::int64_t ignored;
  Reduction reduction;
  double smoothing;
  bool has_weight;

  std::int64_t samples() const { return lines.line_count(); }
  double smoothed_share() const { return smoothing / static_cast<double>(lines.size); }
};

ClassLoss class_loss(const Dims& sizes, const CrossEntropyOptions& options) {
  return {around(sizes, sizes.size() > 1 ? 1 : 0), options.ignore_index, options.reduction, options.label_smoothing,
          options.weight.defined()};
}

// Weights of the classes.
template <class T>
struct Weights {
  const T* each;  // null: 1

  double operator[](std::int64_t at) const { return each == nullptr ? 1 : static_cast<double>(each[at]); }
  double total(std::int64_t count) const {
    if (each == nullptr) return static_cast<double>(count);
    return kernels::sum_of_values(count, [this](std::int64_t i) { return static_cast<double>(each[i]); });
  }
};

template <class T>
Weights<T> weights_at(const ClassLoss& loss, const std::byte* data) {
  return {loss.has_weight ? as<T>(data) : nullptr};
}

// Returns the divisor of a mean.
template <class T>
double weight_of_samples(const ClassLoss& loss, const std::int64_t* target, const Weights<T>& weights) {
  double total = 0;
  for (std::int64_t sample = 0; sample < loss.samples(); ++sample) {
    if (target[sample] != loss.ignored) total += weights[target[sample]];
  }
  return total;
}

template <class T>
double loss_of_sample(const ClassLoss& loss, const T* logs, std::int64_t before, std::int64_t after, std::int64_t truth,
                      const Weights<T>& weights) {
  if (truth == loss.ignored) return 0;
  const Around& lines = loss.lines;
  const double own = weights[truth] * static_cast<double>(logs[lines.at(before, truth, after)]);
  if (loss.smoothing == 0) return -own;
  const double all = kernels::sum_of_values(
      lines.size, [&](std::int64_t i) { return weights[i] * static_cast<double>(logs[lines.at(before, i, after)]); });
  return -((1 - loss.smoothing) * own + loss.smoothed_share() * all);
}

template <class T>
void run_loss(const ClassLoss& loss, const T* logs, const std::int64_t* target, const Weights<T>& weights, T* out) {
  double total = 0;
  for_each_line(loss.lines, [&](std::int64_t before, std::int64_t after) {
    const std::int64_t sample = before * loss.lines.inner + after;
    const double each = loss_of_sample(loss, logs, before, after, target[sample], weights);
    if (loss.reduction == Reduction::None) out[sample] = static_cast<T>(each);
    total += each;
  });
  if (loss.reduction == Reduction::None) return;
  const double by = loss.reduction == Reduction::Mean ? weight_of_samples(loss, target, weights) : 1;
  *out = static_cast<T>(total / by);
}

// Gradient of each sample's loss.
template <class T>
struct SampleGradients {
  SampleGradients(const ClassLoss& loss, const T* gradient, const std::int64_t* target, const Weights<T>& weights)
      : each_(loss.reduction == Reduction::None ? gradient : nullptr), target_(target), ignored_(loss.ignored) {
    if (each_ != nullptr) return;
    all_ = static_cast<double>(*gradient);
    if (loss.reduction == Reduction::Mean) all_ /= weight_of_samples(loss, target, weights);
  }
  double operator[](std::int64_t sample) const {
    if (target_[sample] == ignored_) return 0;
    return each_ == nullptr ? all_ : static_cast<double>(each_[sample]);
  }

 private:
  const T* each_;
  const std::int64_t* target_;
  std::int64_t ignored_;
  double all_ = 0;
};

// Subtracts the gradients of the classes' logarithms from `out`.
template <class T>
void take_class_gradients(const ClassLoss& loss, const SampleGradients<T>& gradients, const std::int64_t* target,
                          const Weights<T>& weights, T* out) {
  const Around& lines = loss.lines;
  for_each_line(lines, [&](std::int64_t before, std::int64_t after) {
    const std::int64_t sample = before * lines.inner + after, truth = target[sample];
    if (truth == loss.ignored) return;
    const double gradient = gradients[sample];
    for (std::int64_t i = 0; i < lines.size && loss.smoothing != 0; ++i) {
      out[lines.at(before, i, after)] -= static_cast<T>(gradient * loss.smoothed_share() * weights[i]);
    }
    out[lines.at(before, truth, after)] -= static_cast<T>(gradient * (1 - loss.smoothing) * weights[truth]);
  });
}

Dims without_classes(const Dims& sizes) {
  Dims left = sizes;
  left.erase(sizes.size() > 1 ? 1 : 0);
  return left;
}

void check_weight(const char* op, const Tensor& input, const Tensor& weight) {
  if (!weight.defined()) return;
  check_dense(op, {&weight});
  check_same_dtype(op, input, weight);
  check_same_device(op, {&input, &weight});
  const std::int64_t classes = input.size(class_dim(input));
  if (weight.dim() == 1 && weight.size(0) == classes) return;
  refuse(op, "there must be one weight for each of " + std::to_string(classes) + " classes", {&input, &weight});
}

void check_loss(const char* op, const Tensor& input, const Tensor& target, const CrossEntropyOptions& options) {
  check_defined(op, {&input, &target});
  check_dense(op, {&input, &target});
  check_floating(op, input);
  check_same_device(op, {&input, &target});
  if (input.dim() == 0) refuse(op, "the input needs a dimension of classes", {&input});
  if (target.dtype() != DType::I64) refuse(op, "targets must be class numbers, int64", {&target});
  if (target.sizes() != without_classes(input.sizes())) {
    refuse(op, "the target must have the input's sizes without that of the classes", {&input, &target});
  }
  check_weight(op, input, options.weight);
  if (options.label_smoothing >= 0 && options.label_smoothing <= 1) return;
  refuse(op, "label_smoothing must be 0 to 1, not " + to_string(Scalar(options.label_smoothing)), {});
}

// Waits for the device.
void check_classes(const char* op, const Tensor& target, std::int64_t classes, std::int64_t ignored) {
  const Tensor here = contiguous(to(target, device::kCpu));
  const auto* each = here.data_as<std::int64_t>();
  for (std::int64_t i = 0; i < here.numel(); ++i) {
    if ((each[i] >= 0 && each[i] < classes) || each[i] == ignored) continue;
    refuse(op, "target " + std::to_string(each[i]) + " is out of bounds for " + std::to_string(classes) + " classes",
           {});
  }
}

Tensor loss_of(const char* op, const Tensor& logs, const Tensor& target, const CrossEntropyOptions& options) {
  const ClassLoss loss = class_loss(logs.sizes(), options);
  const bool is_each = options.reduction == Reduction::None;
  const Tensor out = empty(is_each ? target.sizes() : Dims{}, logs.options());
  if (out.numel() == 0) return out;
  with_floating(logs.dtype(), [&](auto zero) {
    using T = decltype(zero);
    const Tensor weight = loss.has_weight ? contiguous(options.weight) : logs;
    launch(op, std::array{writes(out), reads(contiguous(logs)), reads(contiguous(target)), reads(weight)},
           [loss](Addresses data) {
             run_loss(loss, as<T>(data[1]), as<std::int64_t>(data[2]), weights_at<T>(loss, data[3]),
                      as_mutable<T>(data[0]));
           });
  });
  return out;
}

}  // namespace

std::int64_t class_dim(const Tensor& input) noexcept { return input.dim() > 1 ? 1 : 0; }

Tensor nll_loss(const Tensor& log_probabilities, const Tensor& target, const NllLossOptions& options) {
  check_loss("nll_loss", log_probabilities, target, unsmoothed(options));
  check_classes("nll_loss", target, log_probabilities.size(class_dim(log_probabilities)), options.ignore_index);
  return loss_of("nll_loss", log_probabilities, target, unsmoothed(options));
}

Tensor nll_loss_gradient(const Tensor& gradient, const Dims& sizes, const Tensor& target,
                         const NllLossOptions& options) {
  return cross_entropy_gradient_of_logarithms(gradient, sizes, target, unsmoothed(options));
}

Tensor cross_entropy_gradient_of_logarithms(const Tensor& gradient, const Dims& sizes, const Tensor& target,
                                            const CrossEntropyOptions& options) {
  const ClassLoss loss = class_loss(sizes, options);
  const Tensor out = zeros(sizes, gradient.options());
  if (out.numel() == 0) return out;
  const Tensor weight = loss.has_weight ? contiguous(options.weight) : gradient;
  with_floating(out.dtype(), [&](auto zero) {
    using T = decltype(zero);
    launch("nll_loss_gradient",
           std::array{updates(out), reads(contiguous(gradient)), reads(contiguous(target)), reads(weight)},
           [loss](Addresses data) {
             const auto* truth = as<std::int64_t>(data[2]);
             const Weights<T> weights = weights_at<T>(loss, data[3]);
             const SampleGradients<T> gradients(loss, as<T>(data[1]), truth, weights);
             take_class_gradients(loss, gradients, truth, weights, as_mutable<T>(data[0]));
           });
  });
  return out;
}

Tensor cross_entropy(const Tensor& logits, const Tensor& target, const CrossEntropyOptions& options) {
  check_loss("cross_entropy", logits, target, options);
  return cross_entropy_of_logarithms(log_softmax(logits, class_dim(logits)), target, options);
}

Tensor cross_entropy_of_logarithms(const Tensor& log_probabilities, const Tensor& target,
                                   const CrossEntropyOptions& options) {
  check_loss("cross_entropy", log_probabilities, target, options);
  check_classes("cross_entropy", target, log_probabilities.size(class_dim(log_probabilities)), options.ignore_index);
  return loss_of("cross_entropy", log_probabilities, target, options);
}

Tensor cross_entropy_gradient(const Tensor& gradient, const Tensor& log_probabilities, const Tensor& target,
                              const CrossEntropyOptions& options) {
  const ClassLoss loss = class_loss(log_probabilities.sizes(), options);
  const Tensor out = empty(log_probabilities.sizes(), log_probabilities.options());
  if (out.numel() == 0) return out;
  const Tensor factors = empty({loss.samples()}, {DType::F64, out.device()});
  with_floating(out.dtype(), [&](auto zero) {
    using T = decltype(zero);
    const Tensor weight = loss.has_weight ? contiguous(options.weight) : log_probabilities;
    const auto powers = kernels::table().softmax->scaled_powers[std::is_same_v<T, double> ? 1 : 0];
    launch("cross_entropy_gradient",
           std::array{writes(out), reads(contiguous(gradient)), reads(contiguous(log_probabilities)),
                      reads(contiguous(target)), reads(weight), writes(factors)},
           [loss, powers](Addresses data) {
             const auto* truth = as<std::int64_t>(data[3]);
             const Weights<T> weights = weights_at<T>(loss, data[4]);
             const SampleGradients<T> gradients(loss, as<T>(data[1]), truth, weights);
             // Probabilities times the sum of the gradients of the classes' logarithms, minus each one's gradient.
             auto* factor = as_mutable<double>(data[5]);
             const double smoothed = loss.smoothing == 0 ? 0 : loss.smoothed_share() * weights.total(loss.lines.size);
             for (std::int64_t sample = 0; sample < loss.samples(); ++sample) {
               const double own = truth[sample] == loss.ignored ? 0 : (1 - loss.smoothing) * weights[truth[sample]];
               factor[sample] = gradients[sample] * (own + smoothed);
             }
             powers(data[2], factor, data[0], loss.lines);
             take_class_gradients(loss, gradients, truth, weights, as_mutable<T>(data[0]));
           });
  });
  return out;
}

}  // namespace plain
}  // namespace distrun::tensor
