// Elementwise operators of two tensors, and comparisons.
// Built once for each instruction set, with DISTRUN_KERNEL_SET as its name; see loops.hpp.
#include <distrun/runtime/tensor/kernels/loops.hpp>

namespace distrun::tensor::kernels {
namespace {

template <class T>
struct Add {
  static constexpr bool kIsFor = true;
  const T alpha;
  explicit Add(const void* parameter) : alpha(constant<T>(parameter)) {}
  T operator()(T a, T b) const {
    return static_cast<T>(static_cast<Wide<T>>(a) + static_cast<Wide<T>>(alpha) * static_cast<Wide<T>>(b));
  }
};
template <>
struct Add<bool> {
  static constexpr bool kIsFor = true;
  const bool alpha;
  explicit Add(const void* parameter) : alpha(constant<bool>(parameter)) {}
  bool operator()(bool a, bool b) const { return a | (alpha & b); }
};

template <class T>
struct Mul {
  static constexpr bool kIsFor = true;
  explicit Mul(const void*) {}
  T operator()(T a, T b) const { return static_cast<T>(static_cast<Wide<T>>(a) * static_cast<Wide<T>>(b)); }
};

template <class T>
struct Div {
  static constexpr bool kIsFor = is_float<T>;
  explicit Div(const void*) {}
  T operator()(T a, T b) const { return a / b; }
};

template <class T>
struct SigmoidBackward {
  static constexpr bool kIsFor = is_float<T>;
  explicit SigmoidBackward(const void*) {}
  T operator()(T gradient, T result) const { return gradient * (T{1} - result) * result; }
};

template <class T>
struct ThresholdBackward {
  static constexpr bool kIsFor = is_float<T>;
  const T threshold;
  explicit ThresholdBackward(const void* parameter) : threshold(constant<T>(parameter)) {}
  T operator()(T gradient, T input) const { return input <= threshold ? T{0} : gradient; }
};

template <class T>
struct ClampMinBackward {
  static constexpr bool kIsFor = is_float<T>;
  const T least;
  explicit ClampMinBackward(const void* parameter) : least(constant<T>(parameter)) {}
  T operator()(T gradient, T input) const { return input >= least ? gradient : T{0}; }
};

template <class T>
struct Maximum {
  static constexpr bool kIsFor = true;
  explicit Maximum(const void*) {}
  T operator()(T a, T b) const { return a < b || b != b ? b : a; }  // NaN is the largest
};

template <class T>
struct Minimum {
  static constexpr bool kIsFor = true;
  explicit Minimum(const void*) {}
  T operator()(T a, T b) const { return a > b || b != b ? b : a; }
};

template <class T>
struct ClampMaxBackward {
  static constexpr bool kIsFor = is_float<T>;
  const T largest;
  explicit ClampMaxBackward(const void* parameter) : largest(constant<T>(parameter)) {}
  T operator()(T gradient, T input) const { return input <= largest ? gradient : T{0}; }
};

template <class T>
struct TanhBackward {
  static constexpr bool kIsFor = is_float<T>;
  explicit TanhBackward(const void*) {}
  T operator()(T gradient, T result) const { return gradient * (T{1} - result * result); }
};

template <class T>
struct AbsBackward {
  static constexpr bool kIsFor = is_float<T>;
  explicit AbsBackward(const void*) {}
  T operator()(T gradient, T input) const { return input > 0 ? gradient : input < 0 ? -gradient : T{0}; }
};

template <class T>
struct Pow {
  static constexpr bool kIsFor = !std::is_same_v<T, bool>, kTakesRuns = true;
  explicit Pow(const void*) {}
  T operator()(T a, T b) const {
    if constexpr (is_float<T>) {
      return power(a, b);
    } else {
      return integer_power(a, b);
    }
  }
};

#define DISTRUN_COMPARISON(Name, symbol)                   \
  template <class T>                                       \
  struct Name {                                            \
    static constexpr bool kIsFor = true;                   \
    explicit Name(const void*) {}                          \
    bool operator()(T a, T b) const { return a symbol b; } \
  };
DISTRUN_COMPARISON(Eq, ==)
DISTRUN_COMPARISON(Ne, !=)
DISTRUN_COMPARISON(Lt, <)
DISTRUN_COMPARISON(Le, <=)
DISTRUN_COMPARISON(Gt, >)
DISTRUN_COMPARISON(Ge, >=)
#undef DISTRUN_COMPARISON

}  // namespace

extern const BinaryKernels DISTRUN_NAMED(binary_kernels_, DISTRUN_KERNEL_SET);
constexpr BinaryKernels DISTRUN_NAMED(binary_kernels_, DISTRUN_KERNEL_SET) = {
    {DISTRUN_ROW(binary_entry, Add), DISTRUN_ROW(binary_entry, Mul), DISTRUN_ROW(binary_entry, Div),
     DISTRUN_ROW(binary_entry, SigmoidBackward), DISTRUN_ROW(binary_entry, ThresholdBackward),
     DISTRUN_ROW(binary_entry, ClampMinBackward), DISTRUN_ROW(binary_entry, ClampMaxBackward),
     DISTRUN_ROW(binary_entry, TanhBackward), DISTRUN_ROW(binary_entry, AbsBackward),
     DISTRUN_ROW(binary_entry, Maximum), DISTRUN_ROW(binary_entry, Minimum), DISTRUN_ROW(binary_entry, Pow)},
    {DISTRUN_ROW(comparison_entry, Eq), DISTRUN_ROW(comparison_entry, Ne), DISTRUN_ROW(comparison_entry, Lt),
     DISTRUN_ROW(comparison_entry, Le), DISTRUN_ROW(comparison_entry, Gt), DISTRUN_ROW(comparison_entry, Ge)},
};

}  // namespace distrun::tensor::kernels
