// Elementwise operators with three inputs, which choose between elements.
// Built once for each instruction set, with DISTRUN_KERNEL_SET as its name; see loops.hpp.
#include <distrun/runtime/tensor/kernels/loops.hpp>

namespace distrun::tensor::kernels {
namespace {

template <class T>
using Bits = std::conditional_t<
    sizeof(T) == 8, std::uint64_t,
    std::conditional_t<sizeof(T) == 4, std::uint32_t, std::conditional_t<sizeof(T) == 2, std::uint16_t, std::uint8_t>>>;

// A bool as a byte, 0 or 1: compilers do not vectorize a bool that selects elements of another size.
using Condition = std::uint8_t;

// Returns a if the condition is 1, b if it is 0; works on the bits.
template <class T>
T chosen(Condition condition, T a, T b) {
  const auto mask = static_cast<Bits<T>>(0 - static_cast<Bits<T>>(condition));
  const auto of_a = __builtin_bit_cast(Bits<T>, a), of_b = __builtin_bit_cast(Bits<T>, b);
  return __builtin_bit_cast(T, static_cast<Bits<T>>((of_a & mask) | (of_b & static_cast<Bits<T>>(~mask))));
}

// `First` is the type of the first input.
template <class T>
struct Where {
  static constexpr bool kIsFor = true;
  using First = Condition;
  T operator()(Condition condition, T a, T b) const { return chosen(condition, a, b); }
};

template <class T>
struct Dropout {
  static constexpr bool kIsFor = is_float<T>;
  using First = Condition;
  T operator()(Condition is_kept, T a, T factor) const { return a * chosen(is_kept, factor, T{0}); }
};

template <class T>
struct Clamp {
  static constexpr bool kIsFor = !std::is_same_v<T, bool>;
  using First = T;
  T operator()(T a, T least, T largest) const {
    const T raised = a < least ? least : a;
    return raised > largest ? largest : raised;
  }
};

template <class T>
struct MaximumBackward {
  static constexpr bool kIsFor = is_float<T>;
  using First = T;
  T operator()(T gradient, T a, T b) const { return a < b ? T{0} : a == b ? gradient / 2 : gradient; }
};

template <class T>
struct MinimumBackward {
  static constexpr bool kIsFor = is_float<T>;
  using First = T;
  T operator()(T gradient, T a, T b) const { return a > b ? T{0} : a == b ? gradient / 2 : gradient; }
};

}  // namespace

extern const ChoiceKernels DISTRUN_NAMED(choice_kernels_, DISTRUN_KERNEL_SET);
constexpr ChoiceKernels DISTRUN_NAMED(choice_kernels_, DISTRUN_KERNEL_SET) = {
    {DISTRUN_ROW(choice_entry, Where), DISTRUN_ROW(choice_entry, Dropout), DISTRUN_ROW(choice_entry, Clamp),
     DISTRUN_ROW(choice_entry, MaximumBackward), DISTRUN_ROW(choice_entry, MinimumBackward)},
};

}  // namespace distrun::tensor::kernels
