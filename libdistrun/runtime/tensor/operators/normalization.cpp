#include <distrun/runtime/tensor/operators/normalization.hpp>

#include <algorithm>
#include <cmath>

#include <distrun/runtime/tensor/core/copy.hpp>
#include <distrun/runtime/tensor/core/factories.hpp>
#include <distrun/runtime/tensor/core/launch.hpp>
#include <distrun/runtime/tensor/core/shape.hpp>

namespace distrun::tensor::plain {
namespace {

// A contiguous tensor around one of its dimensions.
struct Around {
  std::int64_t outer = 1, size = 1, inner = 1;

  std::int64_t at(std::int64_t before, std::int64_t i, std::int64_t after) const {
    return (before * size + i) * inner + after;
  }
  std::int64_t numel() const { return outer * size * inner; }
};

Around around(const Dims& sizes, std::size_t dim) {
  Around shape;
  for (std::size_t i = 0; i < sizes.size(); ++i)
    (i < dim ? shape.outer : i > dim ? shape.inner : shape.size) *= sizes[i];
  return shape;
}

std::size_t dim_of(const char* op, const Tensor& input, std::int64_t dim) {
  check_defined(op, {&input});
  check_dense(op, {&input});
  check_floating(op, input);
  return wrap_dim(op, dim, input.dim());
}

void check_channels(const char* op, const Tensor& input) {
  check_defined(op, {&input});
  check_dense(op, {&input});
  check_floating(op, input);
  if (input.dim() < 2) refuse(op, "the input must be [batch, channels, ...]", {&input});
}

// Of one channel each.
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

void check_like(const char* op, const Tensor& gradient, const Tensor& input) {
  check_defined(op, {&gradient, &input});
  check_dense(op, {&gradient});
  check_same_dtype(op, gradient, input);
  check_same_device(op, {&gradient, &input});
  if (gradient.sizes() != input.sizes()) refuse(op, "the sizes differ", {&gradient, &input});
}

Tensor or_numbers(const Tensor& numbers, double otherwise, const Tensor& input) {
  return numbers.defined() ? contiguous(numbers) : full({input.size(1)}, otherwise, input.options());
}

template <class T>
void softmax_line(const T* in, T* out, const Around& shape, std::int64_t before, std::int64_t after) {
  T largest = in[shape.at(before, 0, after)];
  for (std::int64_t i = 1; i < shape.size; ++i) largest = std::max(largest, in[shape.at(before, i, after)]);
  double sum = 0;
  for (std::int64_t i = 0; i < shape.size; ++i) {
    const T value = std::exp(in[shape.at(before, i, after)] - largest);
    out[shape.at(before, i, after)] = value;
    sum += static_cast<double>(value);
  }
  for (std::int64_t i = 0; i < shape.size; ++i) {
    T& value = out[shape.at(before, i, after)];
    value = static_cast<T>(static_cast<double>(value) / sum);
  }
}

template <class T>
void softmax_gradient_line(const T* gradient, const T* result, T* out, const Around& shape, std::int64_t before,
                           std::int64_t after) {
  double sum = 0;
  for (std::int64_t i = 0; i < shape.size; ++i) {
    const std::int64_t at = shape.at(before, i, after);
    sum += static_cast<double>(gradient[at]) * static_cast<double>(result[at]);
  }
  for (std::int64_t i = 0; i < shape.size; ++i) {
    const std::int64_t at = shape.at(before, i, after);
    out[at] = static_cast<T>((static_cast<double>(gradient[at]) - sum) * static_cast<double>(result[at]));
  }
}

template <class Line>
void for_each_line(const Around& shape, const Line& line) {
  for (std::int64_t before = 0; before < shape.outer; ++before) {
    for (std::int64_t after = 0; after < shape.inner; ++after) line(before, after);
  }
}

// Sums `value` over all elements of a channel.
template <class Value>
double sum_of_channel(const Around& shape, std::int64_t channel, const Value& value) {
  double sum = 0;
  for (std::int64_t before = 0; before < shape.outer; ++before) {
    for (std::int64_t after = 0; after < shape.inner; ++after) sum += value(shape.at(before, channel, after));
  }
  return sum;
}

template <class T>
void moments_of(const T* in, T* mean, T* variance, const Around& shape) {
  const double count = static_cast<double>(shape.outer * shape.inner);
  for (std::int64_t channel = 0; channel < shape.size; ++channel) {
    const double middle =
        sum_of_channel(shape, channel, [in](std::int64_t at) { return static_cast<double>(in[at]); }) / count;
    const double squares = sum_of_channel(shape, channel, [in, middle](std::int64_t at) {
      const double off = static_cast<double>(in[at]) - middle;
      return off * off;
    });
    mean[channel] = static_cast<T>(middle);
    variance[channel] = static_cast<T>(squares / count);
  }
}

template <class Body>
void for_each_element(const Around& shape, const Body& body) {
  for (std::int64_t before = 0; before < shape.outer; ++before) {
    for (std::int64_t channel = 0; channel < shape.size; ++channel) {
      const std::int64_t begin = shape.at(before, channel, 0);
      for (std::int64_t at = begin; at < begin + shape.inner; ++at) body(at, channel);
    }
  }
}

template <class T>
const T* as(const std::byte* bytes) {
  return reinterpret_cast<const T*>(bytes);
}
template <class T>
T* as_mutable(std::byte* bytes) {
  return reinterpret_cast<T*>(bytes);
}

}  // namespace

Tensor softmax(const Tensor& input, std::int64_t dim) {
  const Around shape = around(input.sizes(), dim_of("softmax", input, dim));
  const Tensor out = empty(input.sizes(), input.options());
  if (out.numel() == 0) return out;
  with_floating(input.dtype(), [&](auto zero) {
    using T = decltype(zero);
    launch("softmax", std::array{writes(out), reads(contiguous(input))}, [shape](Addresses data) {
      for_each_line(shape, [&](std::int64_t before, std::int64_t after) {
        softmax_line(as<T>(data[1]), as_mutable<T>(data[0]), shape, before, after);
      });
    });
  });
  return out;
}

Tensor softmax_gradient(const Tensor& gradient, const Tensor& result, std::int64_t dim) {
  const Around shape = around(result.sizes(), dim_of("softmax_gradient", result, dim));
  check_like("softmax_gradient", gradient, result);
  const Tensor out = empty(result.sizes(), result.options());
  if (out.numel() == 0) return out;
  with_floating(result.dtype(), [&](auto zero) {
    using T = decltype(zero);
    launch("softmax_gradient", std::array{writes(out), reads(contiguous(gradient)), reads(contiguous(result))},
           [shape](Addresses data) {
             for_each_line(shape, [&](std::int64_t before, std::int64_t after) {
               softmax_gradient_line(as<T>(data[1]), as<T>(data[2]), as_mutable<T>(data[0]), shape, before, after);
             });
           });
  });
  return out;
}

Moments channel_moments(const Tensor& input) {
  check_channels("channel_moments", input);
  const Around shape = around(input.sizes(), 1);
  if (shape.outer * shape.inner == 0) refuse("channel_moments", "there is no element in a channel", {&input});
  const Moments out{empty({shape.size}, input.options()), empty({shape.size}, input.options())};
  if (shape.size == 0) return out;
  with_floating(input.dtype(), [&](auto zero) {
    using T = decltype(zero);
    launch(
        "channel_moments", std::array{writes(out.mean), writes(out.variance), reads(contiguous(input))},
        [shape](Addresses data) { moments_of(as<T>(data[2]), as_mutable<T>(data[0]), as_mutable<T>(data[1]), shape); });
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
             for_each_element(shape, [&](std::int64_t at, std::int64_t channel) {
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
           std::array{writes(out.gradient), writes(out.gradient_by_value), reads(contiguous(gradient)),
                      reads(contiguous(input)), reads(contiguous(mean))},
           [shape](Addresses data) {
             const T *const g = as<T>(data[2]), *const x = as<T>(data[3]), *const middle = as<T>(data[4]);
             for (std::int64_t channel = 0; channel < shape.size; ++channel) {
               const auto off = static_cast<double>(middle[channel]);
               as_mutable<T>(data[0])[channel] = static_cast<T>(
                   sum_of_channel(shape, channel, [&](std::int64_t at) { return static_cast<double>(g[at]); }));
               as_mutable<T>(data[1])[channel] = static_cast<T>(sum_of_channel(shape, channel, [&](std::int64_t at) {
                 return static_cast<double>(g[at]) * (static_cast<double>(x[at]) - off);
               }));
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
          for_each_element(shape, [&](std::int64_t at, std::int64_t channel) {
            const T square = scale[channel] * scale[channel];
            const T spread = (x[at] - middle[channel]) * square * mean_gx[channel];
            to[at] = (g[at] - mean_g[channel] - spread) * scale[channel] * by[channel];
          });
        });
  });
  return out;
}

}  // namespace distrun::tensor::plain
