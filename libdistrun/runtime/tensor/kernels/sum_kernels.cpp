// Sums.
// Built once for each instruction set, with DISTRUN_KERNEL_SET as its name; see loops.hpp.
#include <distrun/runtime/tensor/kernels/loops.hpp>

namespace distrun::tensor::kernels {
namespace {

template <class T>
using Sum = std::conditional_t<is_float<T>, double, std::uint64_t>;

// Lanes that are summed side by side, and how many elements go into them before they are put together: the error grows
// with the number of blocks, not of elements.
constexpr std::int64_t kLanes = 16;
constexpr std::int64_t kBlock = 4096;

template <class T>
Sum<T> sum_of_block(const T* data, std::int64_t count) {
  Sum<T> lanes[kLanes] = {};
  std::int64_t i = 0;
  for (; i + kLanes <= count; i += kLanes) {
    for (std::int64_t lane = 0; lane < kLanes; ++lane) lanes[lane] += static_cast<Sum<T>>(data[i + lane]);
  }
  for (std::int64_t lane = 0; i < count; ++i, ++lane) lanes[lane] += static_cast<Sum<T>>(data[i]);
  for (std::int64_t half = kLanes / 2; half > 0; half /= 2) {
    for (std::int64_t lane = 0; lane < half; ++lane) lanes[lane] += lanes[lane + half];
  }
  return lanes[0];
}

template <class T>
void total_run(const std::byte* data, std::int64_t stride, std::int64_t count, void* total) {
  Sum<T> sum = *static_cast<Sum<T>*>(total);
  if (is_packed<T>(stride)) {
    const T* elements = reinterpret_cast<const T*>(data);
    for (std::int64_t i = 0; i < count; i += kBlock) {
      sum += sum_of_block(elements + i, count - i < kBlock ? count - i : kBlock);
    }
  } else {
    for (std::int64_t i = 0; i < count; ++i) {
      sum += static_cast<Sum<T>>(*reinterpret_cast<const T*>(data + i * stride));
    }
  }
  *static_cast<Sum<T>*>(total) = sum;
}

template <class T>
void gather_run(const std::byte* data, std::int64_t stride, std::int64_t count, void* totals) {
  Sum<T>* sums = static_cast<Sum<T>*>(totals);
  if (is_packed<T>(stride)) {
    const T* elements = reinterpret_cast<const T*>(data);
    for (std::int64_t i = 0; i < count; ++i) sums[i] += static_cast<Sum<T>>(elements[i]);
    return;
  }
  for (std::int64_t i = 0; i < count; ++i) {
    sums[i] += static_cast<Sum<T>>(*reinterpret_cast<const T*>(data + i * stride));
  }
}

#define DISTRUN_TOTAL(T) &total_run<T>
#define DISTRUN_GATHER(T) &gather_run<T>

}  // namespace

extern const SumKernels DISTRUN_NAMED(sum_kernels_, DISTRUN_KERNEL_SET);
constexpr SumKernels DISTRUN_NAMED(sum_kernels_, DISTRUN_KERNEL_SET) = {
    DISTRUN_FOR_DTYPES(DISTRUN_TOTAL),
    DISTRUN_FOR_DTYPES(DISTRUN_GATHER),
};

}  // namespace distrun::tensor::kernels
