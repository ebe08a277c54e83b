// Built once for each instruction set, with DISTRUN_KERNEL_SET as its name. Everything but the table is in an unnamed
// namespace, for the reason in table.hpp. Products and sums are not fused (-ffp-contract=off), so that all instruction
// sets give the same numbers.
#include <distrun/runtime/tensor/kernels/functions.hpp>
#include <distrun/runtime/tensor/kernels/table.hpp>

namespace distrun::tensor::kernels {
namespace {

// Integers wrap: they are worked with as unsigned ones that no promotion makes signed again.
template <class T>
using Wide = std::conditional_t<is_float<T>, T, std::conditional_t<sizeof(T) == 8, std::uint64_t, std::uint32_t>>;

template <class T>
T constant(const void* parameter) {
  return *static_cast<const T*>(parameter);
}

// ---- operators on single elements

template <class T>
struct Neg {
  static constexpr bool kIsFor = !std::is_same_v<T, bool>;
  explicit Neg(const void*) {}
  T operator()(T a) const {
    return is_float<T> ? static_cast<T>(-a) : static_cast<T>(Wide<T>{0} - static_cast<Wide<T>>(a));
  }
};

// An operator with kIsSplit has plain(), of which the compiler can make vectors, for all elements but those of which
// is_plain() is false.
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

// ---- runs of elements

template <class T>
bool is_packed(std::int64_t stride) {
  return stride == static_cast<std::int64_t>(sizeof(T));
}
template <class T>
T* at(std::byte* data, std::int64_t offset) {
  return reinterpret_cast<T*>(data + offset);
}

template <class Op, class T>
void split_run(const Op op, T* out, const T* a, std::int64_t count) {
  constexpr std::int64_t kPart = 256;
  for (std::int64_t start = 0; start < count; start += kPart) {
    const std::int64_t end = count - start < kPart ? count : start + kPart;
    int others = 0;
    for (std::int64_t i = start; i < end; ++i) others |= static_cast<int>(!Op::is_plain(a[i]));
    if (others != 0) {
      for (std::int64_t i = start; i < end; ++i) out[i] = op(a[i]);
      continue;
    }
    DISTRUN_INDEPENDENT
    for (std::int64_t i = start; i < end; ++i) out[i] = op.plain(a[i]);
  }
}

template <class Op, class In, class Out>
void unary_run(std::byte* const* data, const std::int64_t* strides, std::int64_t count, const void* parameter) {
  const Op op(parameter);
  if (is_packed<Out>(strides[0]) && is_packed<In>(strides[1])) {
    Out* out = at<Out>(data[0], 0);
    const In* a = at<In>(data[1], 0);
    if constexpr (requires { Op::kIsSplit; }) return split_run(op, out, a, count);
    DISTRUN_INDEPENDENT
    for (std::int64_t i = 0; i < count; ++i) out[i] = op(a[i]);
    return;
  }
  for (std::int64_t i = 0; i < count; ++i) {
    *at<Out>(data[0], i * strides[0]) = op(*at<In>(data[1], i * strides[1]));
  }
}

template <class Op, class In, class Out>
void packed_binary_run(const Op op, Out* out, const In* a, const In* b, std::int64_t count) {
  DISTRUN_INDEPENDENT
  for (std::int64_t i = 0; i < count; ++i) out[i] = op(a[i], b[i]);
}
template <class Op, class In, class Out>
void left_binary_run(const Op op, Out* out, const In* a, const In b, std::int64_t count) {
  DISTRUN_INDEPENDENT
  for (std::int64_t i = 0; i < count; ++i) out[i] = op(a[i], b);
}
template <class Op, class In, class Out>
void right_binary_run(const Op op, Out* out, const In a, const In* b, std::int64_t count) {
  DISTRUN_INDEPENDENT
  for (std::int64_t i = 0; i < count; ++i) out[i] = op(a, b[i]);
}

template <class Op, class In, class Out>
void binary_run(std::byte* const* data, const std::int64_t* strides, std::int64_t count, const void* parameter) {
  const Op op(parameter);
  Out* out = at<Out>(data[0], 0);
  const In* a = at<In>(data[1], 0);
  const In* b = at<In>(data[2], 0);
  const bool is_out_packed = is_packed<Out>(strides[0]);
  const bool is_a_packed = is_packed<In>(strides[1]);
  const bool is_b_packed = is_packed<In>(strides[2]);
  if (is_out_packed && is_a_packed && is_b_packed) return packed_binary_run(op, out, a, b, count);
  if (is_out_packed && is_a_packed && strides[2] == 0) return left_binary_run(op, out, a, *b, count);
  if (is_out_packed && strides[1] == 0 && is_b_packed) return right_binary_run(op, out, *a, b, count);
  for (std::int64_t i = 0; i < count; ++i) {
    *at<Out>(data[0], i * strides[0]) = op(*at<In>(data[1], i * strides[1]), *at<In>(data[2], i * strides[2]));
  }
}

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

// ---- sums

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

// ---- the table

template <template <class> class Op, class T>
constexpr Run unary_entry() {
  if constexpr (Op<T>::kIsFor) {
    return &unary_run<Op<T>, T, T>;
  } else {
    return nullptr;
  }
}
template <template <class> class Op, class T>
constexpr Run binary_entry() {
  if constexpr (Op<T>::kIsFor) {
    return &binary_run<Op<T>, T, T>;
  } else {
    return nullptr;
  }
}

template <class From, class To>
constexpr Run kConvert = &unary_run<Convert<From, To>, From, To>;

// In the order of DType.
#define DISTRUN_FOR_DTYPES(entry)                                                                   \
  {                                                                                                 \
    entry(bool), entry(std::uint8_t), entry(std::int8_t), entry(std::int16_t), entry(std::int32_t), \
        entry(std::int64_t), entry(float), entry(double)                                            \
  }
#define DISTRUN_NEG(T) unary_entry<Neg, T>()
#define DISTRUN_COS(T) unary_entry<Cos, T>()
#define DISTRUN_SIN(T) unary_entry<Sin, T>()
#define DISTRUN_SIGMOID(T) unary_entry<Sigmoid, T>()
#define DISTRUN_CLAMP_MIN(T) unary_entry<ClampMin, T>()
#define DISTRUN_SQRT(T) unary_entry<Sqrt, T>()
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
#define DISTRUN_CONVERT(From)                                                                                      \
  {                                                                                                                \
    kConvert<From, bool>, kConvert<From, std::uint8_t>, kConvert<From, std::int8_t>, kConvert<From, std::int16_t>, \
        kConvert<From, std::int32_t>, kConvert<From, std::int64_t>, kConvert<From, float>, kConvert<From, double>  \
  }
#define DISTRUN_FILL(T) &fill_run<T>
#define DISTRUN_TOTAL(T) &total_run<T>
#define DISTRUN_GATHER(T) &gather_run<T>

}  // namespace

#define DISTRUN_JOIN(a, b) a##b
#define DISTRUN_NAMED(prefix, set) DISTRUN_JOIN(prefix, set)

extern const ElementKernels DISTRUN_NAMED(element_kernels_, DISTRUN_KERNEL_SET);
constexpr ElementKernels DISTRUN_NAMED(element_kernels_, DISTRUN_KERNEL_SET) = {
    {DISTRUN_FOR_DTYPES(DISTRUN_NEG), DISTRUN_FOR_DTYPES(DISTRUN_COS), DISTRUN_FOR_DTYPES(DISTRUN_SIN),
     DISTRUN_FOR_DTYPES(DISTRUN_SIGMOID), DISTRUN_FOR_DTYPES(DISTRUN_CLAMP_MIN), DISTRUN_FOR_DTYPES(DISTRUN_SQRT)},
    {DISTRUN_FOR_DTYPES(DISTRUN_ADD), DISTRUN_FOR_DTYPES(DISTRUN_MUL), DISTRUN_FOR_DTYPES(DISTRUN_DIV),
     DISTRUN_FOR_DTYPES(DISTRUN_SIGMOID_BACKWARD), DISTRUN_FOR_DTYPES(DISTRUN_THRESHOLD_BACKWARD),
     DISTRUN_FOR_DTYPES(DISTRUN_CLAMP_MIN_BACKWARD), DISTRUN_FOR_DTYPES(DISTRUN_MAXIMUM)},
    {DISTRUN_FOR_DTYPES(DISTRUN_EQ), DISTRUN_FOR_DTYPES(DISTRUN_NE), DISTRUN_FOR_DTYPES(DISTRUN_LT),
     DISTRUN_FOR_DTYPES(DISTRUN_LE), DISTRUN_FOR_DTYPES(DISTRUN_GT), DISTRUN_FOR_DTYPES(DISTRUN_GE)},
    DISTRUN_FOR_DTYPES(DISTRUN_CONVERT),
    DISTRUN_FOR_DTYPES(DISTRUN_FILL),
    DISTRUN_FOR_DTYPES(DISTRUN_TOTAL),
    DISTRUN_FOR_DTYPES(DISTRUN_GATHER),
    &make_normal,
};

}  // namespace distrun::tensor::kernels
