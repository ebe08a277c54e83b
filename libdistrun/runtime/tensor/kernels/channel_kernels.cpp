// Batch normalization.
// Built once for each instruction set, with DISTRUN_KERNEL_SET as its name; see loops.hpp.
#include <distrun/runtime/tensor/kernels/channels.hpp>
#include <distrun/runtime/tensor/kernels/line_sums.hpp>
#include <distrun/runtime/tensor/kernels/loops.hpp>

namespace distrun::tensor::kernels {
namespace {

template <class T>
double sum_run(const void* in, std::int64_t count) {
  const T* data = static_cast<const T*>(in);
  return sum_of_values(count, [data](std::int64_t i) { return static_cast<double>(data[i]); });
}

template <class T>
double squares_run(const void* in, std::int64_t count, double mean) {
  const T* data = static_cast<const T*>(in);
  return sum_of_values(count, [data, mean](std::int64_t i) {
    const double off = static_cast<double>(data[i]) - mean;
    return off * off;
  });
}

template <class T>
double products_run(const void* gradient, const void* in, std::int64_t count, double mean) {
  const T *g = static_cast<const T*>(gradient), *data = static_cast<const T*>(in);
  return sum_of_values(count, [g, data, mean](std::int64_t i) {
    return static_cast<double>(g[i]) * (static_cast<double>(data[i]) - mean);
  });
}

template <class T>
void normalize_run(const ChannelNormalization& channel) {
  const T* in = static_cast<const T*>(channel.in);
  T* out = static_cast<T*>(channel.out);
  const T mean = static_cast<T>(channel.mean), inverse = static_cast<T>(channel.inverse);
  const T weight = static_cast<T>(channel.weight), bias = static_cast<T>(channel.bias);
  DISTRUN_INDEPENDENT
  for (std::int64_t i = 0; i < channel.count; ++i) out[i] = (in[i] - mean) * inverse * weight + bias;
}

template <class T>
void normalize_gradient_run(const ChannelNormalizationGradient& channel) {
  const T *g = static_cast<const T*>(channel.gradient), *in = static_cast<const T*>(channel.in);
  T* out = static_cast<T*>(channel.out);
  const T mean = static_cast<T>(channel.mean), inverse = static_cast<T>(channel.inverse), square = inverse * inverse;
  const T weight = static_cast<T>(channel.weight);
  const T gradient_mean = static_cast<T>(channel.gradient_mean), product_mean = static_cast<T>(channel.product_mean);
  DISTRUN_INDEPENDENT
  for (std::int64_t i = 0; i < channel.count; ++i) {
    out[i] = (g[i] - gradient_mean - (in[i] - mean) * square * product_mean) * inverse * weight;
  }
}

}  // namespace

extern const ChannelKernels DISTRUN_NAMED(channel_kernels_, DISTRUN_KERNEL_SET);
constexpr ChannelKernels DISTRUN_NAMED(channel_kernels_, DISTRUN_KERNEL_SET) = {
    {&sum_run<float>, &sum_run<double>},
    {&squares_run<float>, &squares_run<double>},
    {&products_run<float>, &products_run<double>},
    {&normalize_run<float>, &normalize_run<double>},
    {&normalize_gradient_run<float>, &normalize_gradient_run<double>},
};

}  // namespace distrun::tensor::kernels
