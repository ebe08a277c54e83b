// Copies from one dtype to another, and fills.
// Built once for each instruction set, with DISTRUN_KERNEL_SET as its name; see loops.hpp.
#include <distrun/runtime/tensor/kernels/loops.hpp>

namespace distrun::tensor::kernels {
namespace {

template <class From, class To>
struct Convert {
  explicit Convert(const void*) {}
  To operator()(From value) const { return convert_one<To>(value); }
};

template <class T>
void fill_run(std::byte* const* data, const std::int64_t* strides, std::int64_t count, const void* parameter) {
  const T value = constant<T>(parameter);
  if (is_packed<T>(strides[0])) {
    T* out = at<T>(data[0], 0);
    for (std::int64_t i = 0; i < count; ++i) out[i] = value;
    return;
  }
  for (std::int64_t i = 0; i < count; ++i) *at<T>(data[0], i * strides[0]) = value;
}

template <class From, class To>
constexpr Run kConvert = &unary_run<Convert<From, To>, From, To>;

#define DISTRUN_CONVERT(From)                                                                                      \
  {                                                                                                                \
    kConvert<From, bool>, kConvert<From, std::uint8_t>, kConvert<From, std::int8_t>, kConvert<From, std::int16_t>, \
        kConvert<From, std::int32_t>, kConvert<From, std::int64_t>, kConvert<From, float>, kConvert<From, double>  \
  }
#define DISTRUN_FILL(T) &fill_run<T>

}  // namespace

extern const CopyKernels DISTRUN_NAMED(copy_kernels_, DISTRUN_KERNEL_SET);
constexpr CopyKernels DISTRUN_NAMED(copy_kernels_, DISTRUN_KERNEL_SET) = {
    DISTRUN_FOR_DTYPES(DISTRUN_CONVERT),
    DISTRUN_FOR_DTYPES(DISTRUN_FILL),
};

}  // namespace distrun::tensor::kernels
