#include <distrun/runtime/tensor/operators/normalization.hpp>

#include <cmath>
#include <type_traits>

#include <distrun/runtime/tensor/core/copy.hpp>
#include <distrun/runtime/tensor/core/factories.hpp>
#include <distrun/runtime/tensor/core/launch.hpp>
#include <distrun/runtime/tensor/core/shape.hpp>
#include <distrun/runtime/tensor/core/views.hpp>
#include <distrun/runtime/tensor/kernels/channels.hpp>
#include <distrun/runtime/tensor/kernels/instruction_set.hpp>
#include <distrun/runtime/tensor/operators/around.hpp>

namespace distrun::tensor::plain {
namespace {

void check_channels(const char* op, const Tensor& input) {
  check_defined(op, {&input});
  check_dense(op, {&input});
  check_floating(op, input);
  if (input.dim() < 2) refuse(op, "the input must be [batch, channels, ...]", {&input});
}

// Checks that the tensors have one element per channel.
void check_per_channel(const char* op, const Tensor& input, std::initializer_list<const Tensor*> tensors) {
  for (const Tensor* each : tensors) {
    if (!each->defined()) continue;
    check_dense(op, {each});
    check_same_dtype(op, input, *each);
    check_same_device(op, {&input, each});
    if (each->dim() == 1 && each->size(0) == input.size(1)) continue;
    refuse(op, "there must be one number for each of " + std::to_string(input.size(1)) + " channels", {&input, each});
  }
}

Tensor or_numbers(const Tensor& numbers, double otherwise, const Tensor& input) {
  return numbers.defined() ? contiguous(numbers) : full({input.size(1)}, otherwise, input.options());
}

// Long runs of a channel's contiguous elements are processed at once.
bool has_long_runs(const Around& shape) { return shape.inner >= 16 || shape.outer == 1; }

// Brings short runs together for summing: [channels, batch, ...].
Tensor channels_together(const Tensor& input, const Around& shape) {
  return contiguous(has_long_runs(shape) ? input : transpose(input, 0, 1));
}
Around together(Around shape) {
  if (has_long_runs(shape)) return shape;
  shape.inner *= shape.outer;
  shape.outer = 1;
  return shape;
}

template <class T>
constexpr std::size_t kNumber = kernels::floating_place(dtype_of<T>);  // index into the kernel tables
const kernels::ChannelKernels& channel_kernels() { return *kernels::table().channels; }

// Adds sum_of_run(first element) over all runs of a channel.
template <class SumOfRun>
double sum_of_channel(const Around& shape, std::int64_t channel, const SumOfRun& sum_of_run) {
  double sum = 0;
  for (std::int64_t before = 0; before < shape.outer; ++before) sum += sum_of_run(shape.at(before, channel, 0));
  return sum;
}

template <class T>
void moments_of(const T* in, T* mean, T* variance, const Around& shape) {
  const auto sum = channel_kernels().sum[kNumber<T>];
  const auto squares = channel_kernels().squares[kNumber<T>];
  const double count = static_cast<double>(shape.outer * shape.inner);
  for (std::int64_t channel = 0; channel < shape.size; ++channel) {
    const double middle =
        sum_of_channel(shape, channel, [&](std::int64_t at) { return sum(in + at, shape.inner); }) / count;
    const double off =
        sum_of_channel(shape, channel, [&](std::int64_t at) { return squares(in + at, shape.inner, middle); });
    mean[channel] = static_cast<T>(middle);
    variance[channel] = static_cast<T>(off / count);
  }
}

// Calls run(first element, channel) for each run.
template <class Run>
void for_each_run(const Around& shape, const Run& run) {
  for (std::int64_t before = 0; before < shape.outer; ++before) {
    for (std::int64_t channel = 0; channel < shape.size; ++channel) run(shape.at(before, channel, 0), channel);
  }
}

}  // namespace

Moments channel_moments(const Tensor& input) {
  check_channels("channel_moments", input);
  const Around shape = around(input.sizes(), 1);
  if (shape.outer * shape.inner == 0) refuse("channel_moments", "there is no element in a channel", {&input});
  const Moments out{empty({shape.size}, input.options()), empty({shape.size}, input.options())};
  if (shape.size == 0) return out;
  with_floating(input.dtype(), [&](auto zero) {
    using T = decltype(zero);
    launch("channel_moments",
           std::array{writes(out.mean), writes(out.variance), reads(channels_together(input, shape))},
           [shape = together(shape)](Addresses data) {
             moments_of(as<T>(data[2]), as_mutable<T>(data[0]), as_mutable<T>(data[1]), shape);
           });
  });
  return out;
}

Tensor inverse_deviation(const Tensor& variance, double epsilon) {
  check_defined("inverse_deviation", {&variance});
  check_dense("inverse_deviation", {&variance});
  check_floating("inverse_deviation", variance);
  const Tensor out = empty(variance.sizes(), variance.options());
  if (out.numel() == 0) return out;
  with_floating(variance.dtype(), [&](auto zero) {
    using T = decltype(zero);
    launch("inverse_deviation", std::array{writes(out), reads(contiguous(variance))},
           [epsilon, count = out.numel()](Addresses data) {
             for (std::int64_t i = 0; i < count; ++i) {
               const auto of = static_cast<double>(as<T>(data[1])[i]);
               as_mutable<T>(data[0])[i] = static_cast<T>(1 / std::sqrt(of + epsilon));
             }
           });
  });
  return out;
}

Tensor normalize_channels(const Tensor& input, const Tensor& mean, const Tensor& inverse, const Tensor& weight,
                          const Tensor& bias) {
  constexpr const char* kName = "normalize_channels";
  check_channels(kName, input);
  check_defined(kName, {&mean, &inverse});
  check_per_channel(kName, input, {&mean, &inverse, &weight, &bias});
  const Around shape = around(input.sizes(), 1);
  const Tensor out = empty(input.sizes(), input.options());
  if (out.numel() == 0) return out;
  const Tensor factor = or_numbers(weight, 1, input), offset = or_numbers(bias, 0, input);
  with_floating(input.dtype(), [&](auto zero) {
    using T = decltype(zero);
    launch(kName,
           std::array{writes(out), reads(contiguous(input)), reads(contiguous(mean)), reads(contiguous(inverse)),
                      reads(factor), reads(offset)},
           [shape](Addresses data) {
             T* const to = as_mutable<T>(data[0]);
             const T *const x = as<T>(data[1]), *const middle = as<T>(data[2]), *const scale = as<T>(data[3]);
             const T *const by = as<T>(data[4]), *const plus = as<T>(data[5]);
             const auto normalize = channel_kernels().normalize[kNumber<T>];
             for_each_run(shape, [&](std::int64_t at, std::int64_t channel) {
               if (shape.inner > 1) {
                 return normalize(
                     {x + at, to + at, shape.inner, middle[channel], scale[channel], by[channel], plus[channel]});
               }
               to[at] = (x[at] - middle[channel]) * scale[channel] * by[channel] + plus[channel];
             });
           });
  });
  return out;
}

ChannelSums channel_sums(const Tensor& gradient, const Tensor& input, const Tensor& mean) {
  constexpr const char* kName = "channel_sums";
  check_channels(kName, input);
  check_like(kName, gradient, input);
  check_defined(kName, {&mean});
  check_per_channel(kName, input, {&mean});
  const Around shape = around(input.sizes(), 1);
  const ChannelSums out{empty({shape.size}, input.options()), empty({shape.size}, input.options())};
  if (shape.size == 0) return out;
  with_floating(input.dtype(), [&](auto zero) {
    using T = decltype(zero);
    launch(kName,
           std::array{writes(out.gradient), writes(out.gradient_by_value), reads(channels_together(gradient, shape)),
                      reads(channels_together(input, shape)), reads(contiguous(mean))},
           [shape = together(shape)](Addresses data) {
             const auto sum = channel_kernels().sum[kNumber<T>];
             const auto products = channel_kernels().products[kNumber<T>];
             const T *const g = as<T>(data[2]), *const x = as<T>(data[3]), *const middle = as<T>(data[4]);
             for (std::int64_t channel = 0; channel < shape.size; ++channel) {
               const auto off = static_cast<double>(middle[channel]);
               as_mutable<T>(data[0])[channel] = static_cast<T>(
                   sum_of_channel(shape, channel, [&](std::int64_t at) { return sum(g + at, shape.inner); }));
               as_mutable<T>(data[1])[channel] = static_cast<T>(sum_of_channel(
                   shape, channel, [&](std::int64_t at) { return products(g + at, x + at, shape.inner, off); }));
             }
           });
  });
  return out;
}

Tensor normalize_channels_gradient(const Tensor& gradient, const Tensor& input, const Moments& moments,
                                   const Tensor& inverse, const Tensor& weight, const ChannelSums& means) {
  constexpr const char* kName = "normalize_channels_gradient";
  check_channels(kName, input);
  check_like(kName, gradient, input);
  check_defined(kName, {&moments.mean, &inverse});
  check_per_channel(kName, input, {&moments.mean, &inverse, &weight, &means.gradient, &means.gradient_by_value});
  const Around shape = around(input.sizes(), 1);
  const Tensor out = empty(input.sizes(), input.options());
  if (out.numel() == 0) return out;
  const Tensor factor = or_numbers(weight, 1, input), of_mean = or_numbers(means.gradient, 0, input),
               of_value = or_numbers(means.gradient_by_value, 0, input);
  with_floating(input.dtype(), [&](auto zero) {
    using T = decltype(zero);
    launch(
        kName,
        std::array{writes(out), reads(contiguous(gradient)), reads(contiguous(input)), reads(contiguous(moments.mean)),
                   reads(contiguous(inverse)), reads(factor), reads(of_mean), reads(of_value)},
        [shape](Addresses data) {
          T* const to = as_mutable<T>(data[0]);
          const T *const g = as<T>(data[1]), *const x = as<T>(data[2]), *const middle = as<T>(data[3]);
          const T *const scale = as<T>(data[4]), *const by = as<T>(data[5]);
          const T *const mean_g = as<T>(data[6]), *const mean_gx = as<T>(data[7]);
          const auto normalize = channel_kernels().normalize_gradient[kNumber<T>];
          for_each_run(shape, [&](std::int64_t at, std::int64_t channel) {
            if (shape.inner > 1) {
              return normalize({g + at, x + at, to + at, shape.inner, middle[channel], scale[channel], by[channel],
                                mean_g[channel], mean_gx[channel]});
            }
            const T square = scale[channel] * scale[channel];
            const T spread = (x[at] - middle[channel]) * square * mean_gx[channel];
            to[at] = (g[at] - mean_g[channel] - spread) * scale[channel] * by[channel];
          });
        });
  });
  return out;
}

}  // namespace distrun::tensor::plain
