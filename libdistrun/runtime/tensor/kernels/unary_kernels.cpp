// Elementwise operators of one tensor, and normal numbers.
// Built once for each instruction set, with DISTRUN_KERNEL_SET as its name; see loops.hpp.
#include <distrun/runtime/tensor/kernels/loops.hpp>

namespace distrun::tensor::kernels {
namespace {

template <class T>
struct Neg {
  static constexpr bool kIsFor = !std::is_same_v<T, bool>;
  explicit Neg(const void*) {}
  T operator()(T a) const {
    return is_float<T> ? static_cast<T>(-a) : static_cast<T>(Wide<T>{0} - static_cast<Wide<T>>(a));
  }
};

template <class T>
struct Cos {
  static constexpr bool kIsFor = is_float<T>;
  explicit Cos(const void*) {}
  T operator()(T a) const { return __builtin_cos(a); }
};
template <>
struct Cos<float> {
  static constexpr bool kIsFor = true, kIsSplit = true;
  explicit Cos(const void*) {}
  static bool is_plain(float a) { return is_turned(a); }
  float plain(float a) const { return sine_of_turned(a, 1); }
  float operator()(float a) const { return is_plain(a) ? plain(a) : __builtin_cosf(a); }
};

template <class T>
struct Sin {
  static constexpr bool kIsFor = is_float<T>;
  explicit Sin(const void*) {}
  T operator()(T a) const { return __builtin_sin(a); }
};
template <>
struct Sin<float> {
  static constexpr bool kIsFor = true, kIsSplit = true;
  explicit Sin(const void*) {}
  static bool is_plain(float a) { return is_turned(a); }
  float plain(float a) const { return a == 0 ? a : sine_of_turned(a, 0); }  // -0 stays so
  float operator()(float a) const { return is_plain(a) ? plain(a) : __builtin_sinf(a); }
};

template <class T>
struct Sigmoid {
  static constexpr bool kIsFor = is_float<T>;
  explicit Sigmoid(const void*) {}
  T operator()(T a) const { return T{1} / (T{1} + exponential(-a)); }
};

template <class T>
struct ClampMin {
  static constexpr bool kIsFor = !std::is_same_v<T, bool>;
  const T least;
  explicit ClampMin(const void* parameter) : least(constant<T>(parameter)) {}
  T operator()(T a) const { return a < least ? least : a; }  // not a number stays so
};

template <class T>
struct Sqrt {
  static constexpr bool kIsFor = is_float<T>;
  explicit Sqrt(const void*) {}
  T operator()(T a) const { return static_cast<T>(__builtin_sqrt(a)); }  // rounded twice it is exact for float, too
};

#define DISTRUN_NEG(T) unary_entry<Neg, T>()
#define DISTRUN_COS(T) unary_entry<Cos, T>()
#define DISTRUN_SIN(T) unary_entry<Sin, T>()
#define DISTRUN_SIGMOID(T) unary_entry<Sigmoid, T>()
#define DISTRUN_CLAMP_MIN(T) unary_entry<ClampMin, T>()
#define DISTRUN_SQRT(T) unary_entry<Sqrt, T>()

}  // namespace

extern const UnaryKernels DISTRUN_NAMED(unary_kernels_, DISTRUN_KERNEL_SET);
constexpr UnaryKernels DISTRUN_NAMED(unary_kernels_, DISTRUN_KERNEL_SET) = {
    {DISTRUN_FOR_DTYPES(DISTRUN_NEG), DISTRUN_FOR_DTYPES(DISTRUN_COS), DISTRUN_FOR_DTYPES(DISTRUN_SIN),
     DISTRUN_FOR_DTYPES(DISTRUN_SIGMOID), DISTRUN_FOR_DTYPES(DISTRUN_CLAMP_MIN), DISTRUN_FOR_DTYPES(DISTRUN_SQRT)},
    &make_normal,
};

}  // namespace distrun::tensor::kernels
