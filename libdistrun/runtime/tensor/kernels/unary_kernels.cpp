// Elementwise operators with one input.
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
  float plain(float a) const { return sine_of_turned(a, 0); }
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
  T operator()(T a) const { return a < least ? least : a; }  // NaN stays NaN
};

template <class T>
struct ClampMax {
  static constexpr bool kIsFor = !std::is_same_v<T, bool>;
  const T largest;
  explicit ClampMax(const void* parameter) : largest(constant<T>(parameter)) {}
  T operator()(T a) const { return a > largest ? largest : a; }
};

template <class T>
struct Sqrt {
  static constexpr bool kIsFor = is_float<T>;
  explicit Sqrt(const void*) {}
  T operator()(T a) const { return square_root(a); }
};

template <class T>
struct Rsqrt {
  static constexpr bool kIsFor = is_float<T>;
  explicit Rsqrt(const void*) {}
  T operator()(T a) const { return T{1} / square_root(a); }
};

template <class T>
struct Exp {
  static constexpr bool kIsFor = is_float<T>;
  explicit Exp(const void*) {}
  T operator()(T a) const { return exponential(a); }
};

template <class T>
struct Log {
  static constexpr bool kIsFor = is_float<T>;
  explicit Log(const void*) {}
  T operator()(T a) const { return natural_logarithm(a); }
};

template <class T>
struct Tanh {
  static constexpr bool kIsFor = is_float<T>;
  explicit Tanh(const void*) {}
  T operator()(T a) const { return hyperbolic_tangent(a); }
};

template <class T>
struct Abs {
  static constexpr bool kIsFor = !std::is_same_v<T, bool>;
  explicit Abs(const void*) {}
  T operator()(T a) const {
    if constexpr (is_float<T>) {
      return absolute(a);
    } else if constexpr (std::is_signed_v<T>) {
      return a < 0 ? static_cast<T>(Wide<T>{0} - static_cast<Wide<T>>(a)) : a;
    } else {
      return a;
    }
  }
};

template <class T>
struct Cube {
  static constexpr bool kIsFor = !std::is_same_v<T, bool>;
  explicit Cube(const void*) {}
  T operator()(T a) const {
    return static_cast<T>(static_cast<Wide<T>>(a) * static_cast<Wide<T>>(a) * static_cast<Wide<T>>(a));
  }
};

}  // namespace

extern const UnaryKernels DISTRUN_NAMED(unary_kernels_, DISTRUN_KERNEL_SET);
constexpr UnaryKernels DISTRUN_NAMED(unary_kernels_, DISTRUN_KERNEL_SET) = {
    {DISTRUN_ROW(unary_entry, Neg), DISTRUN_ROW(unary_entry, Cos), DISTRUN_ROW(unary_entry, Sin),
     DISTRUN_ROW(unary_entry, Sigmoid), DISTRUN_ROW(unary_entry, ClampMin), DISTRUN_ROW(unary_entry, ClampMax),
     DISTRUN_ROW(unary_entry, Sqrt), DISTRUN_ROW(unary_entry, Rsqrt), DISTRUN_ROW(unary_entry, Exp),
     DISTRUN_ROW(unary_entry, Log), DISTRUN_ROW(unary_entry, Tanh), DISTRUN_ROW(unary_entry, Abs),
     DISTRUN_ROW(unary_entry, Cube)},
};

}  // namespace distrun::tensor::kernels
