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
  T operator()(T a, T b) const { return a < b || b != b ? b : a; }  // not a number is the largest
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

#define DISTRUN_ADD(T) binary_entry<Add, T>()
#define DISTRUN_MUL(T) binary_entry<Mul, T>()
#define DISTRUN_DIV(T) binary_entry<Div, T>()
#define DISTRUN_SIGMOID_BACKWARD(T) binary_entry<SigmoidBackward, T>()
#define DISTRUN_THRESHOLD_BACKWARD(T) binary_entry<ThresholdBackward, T>()
#define DISTRUN_CLAMP_MIN_BACKWARD(T) binary_entry<ClampMinBackward, T>()
#define DISTRUN_MAXIMUM(T) binary_entry<Maximum, T>()
#define DISTRUN_EQ(T) &binary_run<Eq<T>, T, bool>
#define DISTRUN_NE(T) &binary_run<Ne<T>, T, bool>
#define DISTRUN_LT(T) &binary_run<Lt<T>, T, bool>
#define DISTRUN_LE(T) &binary_run<Le<T>, T, bool>
#define DISTRUN_GT(T) &binary_run<Gt<T>, T, bool>
#define DISTRUN_GE(T) &binary_run<Ge<T>, T, bool>

}  // namespace

extern const BinaryKernels DISTRUN_NAMED(binary_kernels_, DISTRUN_KERNEL_SET);
constexpr BinaryKernels DISTRUN_NAMED(binary_kernels_, DISTRUN_KERNEL_SET) = {
    {DISTRUN_FOR_DTYPES(DISTRUN_ADD), DISTRUN_FOR_DTYPES(DISTRUN_MUL), DISTRUN_FOR_DTYPES(DISTRUN_DIV),
     DISTRUN_FOR_DTYPES(DISTRUN_SIGMOID_BACKWARD), DISTRUN_FOR_DTYPES(DISTRUN_THRESHOLD_BACKWARD),
     DISTRUN_FOR_DTYPES(DISTRUN_CLAMP_MIN_BACKWARD), DISTRUN_FOR_DTYPES(DISTRUN_MAXIMUM)},
    {DISTRUN_FOR_DTYPES(DISTRUN_EQ), DISTRUN_FOR_DTYPES(DISTRUN_NE), DISTRUN_FOR_DTYPES(DISTRUN_LT),
     DISTRUN_FOR_DTYPES(DISTRUN_LE), DISTRUN_FOR_DTYPES(DISTRUN_GT), DISTRUN_FOR_DTYPES(DISTRUN_GE)},
};

}  // namespace distrun::tensor::kernels
