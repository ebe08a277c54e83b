#pragma once
// Selects one of the CUDA module's kernels: maps names of operations and element types to the code of elements.hpp.
// Host code for nvcc and host compilers.
#include "elements.hpp"

namespace distrun_cuda {

// Calls take(T{}) with the element type.
template <class Take>
int with_type(int type, const Take& take) {
  switch (type) {
    case DISTRUN_CUDA_BOOL: return take(bool{});
    case DISTRUN_CUDA_U8: return take(std::uint8_t{});
    case DISTRUN_CUDA_I8: return take(std::int8_t{});
    case DISTRUN_CUDA_I16: return take(std::int16_t{});
    case DISTRUN_CUDA_I32: return take(std::int32_t{});
    case DISTRUN_CUDA_I64: return take(std::int64_t{});
    case DISTRUN_CUDA_F32: return take(float{});
    case DISTRUN_CUDA_F64: return take(double{});
    default: return DISTRUN_CUDA_NO_KERNEL;
  }
}

template <class Take>
int with_number(int type, const Take& take) {
  return type == DISTRUN_CUDA_BOOL ? DISTRUN_CUDA_NO_KERNEL : with_type(type, take);
}
template <class Take>
int with_floating(int type, const Take& take) {
  return type == DISTRUN_CUDA_F32 ? take(float{}) : type == DISTRUN_CUDA_F64 ? take(double{}) : DISTRUN_CUDA_NO_KERNEL;
}
// Calls take() with one type of each size: for operations without arithmetic.
template <class Take>
int with_size(int type, const Take& take) {
  switch (type) {
    case DISTRUN_CUDA_I16: return take(std::int16_t{});
    case DISTRUN_CUDA_I32:
    case DISTRUN_CUDA_F32: return take(std::int32_t{});
    case DISTRUN_CUDA_I64:
    case DISTRUN_CUDA_F64: return take(std::int64_t{});
    default: return take(std::uint8_t{});
  }
}

template <class T>
Input<T> input(const distrun_cuda_operand& operand) {
  return {number<T>(operand.number)};
}

// Runs the requested kernel over all its elements: run(operation, walk, count) calls operation(walk.at(i)) for each i <
// count.
template <class Run>
class Dispatch {
 public:
  Dispatch(const distrun_cuda_kernel& kernel, const Run& run) : kernel_(kernel), run_(run) {}

  // Returns DISTRUN_CUDA_NO_KERNEL for other operations.
  int operator()() const {
    switch (kernel_.operands) {
      case 1: return is("fill") ? fill() : DISTRUN_CUDA_NO_KERNEL;
      case 2: return is("copy") ? copy() : unary();
      case 3: return binary();
      case 4: return choice();
      default: return DISTRUN_CUDA_NO_KERNEL;
    }
  }

 private:
  bool is(const char* operation) const { return std::strcmp(kernel_.operation, operation) == 0; }
  const distrun_cuda_operand& operand(int i) const { return kernel_.operand[i]; }
  int type() const { return operand(1).type; }

  template <class Operation>
  int over(const Operation& operation) const {
    const std::uint64_t count = count_of(kernel_);
    return kernel_.dims <= 1 ? run_(operation, flat(kernel_), count) : run_(operation, strided(kernel_), count);
  }

  int fill() const {
    return with_type(operand(0).type,
                     [&](auto zero) { return over(Fill<decltype(zero)>{number<decltype(zero)>(kernel_.parameter)}); });
  }
  int copy() const {
    if (operand(1).address == nullptr) return DISTRUN_CUDA_NO_KERNEL;
    return with_type(operand(0).type, [&](auto zero) { return over(Copy<decltype(zero)>{type()}); });
  }

  int unary() const {
    if (type() != operand(0).type) return DISTRUN_CUDA_NO_KERNEL;
    if (is("sqrt")) return with_floating(type(), each<Sqrt>());
    if (is("rsqrt")) return with_floating(type(), each<Rsqrt>());
    if (is("neg")) return with_number(type(), each<Neg>());
    if (is("abs")) return with_number(type(), each<Abs>());
    if (is("cube")) return with_number(type(), each<Cube>());
    if (is("clamp_min")) return with_number(type(), each<ClampMin>());
    if (is("clamp_max")) return with_number(type(), each<ClampMax>());
    return DISTRUN_CUDA_NO_KERNEL;
  }
  template <class Function>
  auto each() const {
    return [this](auto zero) {
      using T = decltype(zero);
      return over(Unary<T, Function>{input<T>(operand(1)), number<T>(kernel_.parameter)});
    };
  }

  int binary() const {
    if (type() != operand(2).type) return DISTRUN_CUDA_NO_KERNEL;
    const int compared = comparison();
    if (compared != DISTRUN_CUDA_NO_KERNEL || type() != operand(0).type) return compared;
    if (is("add")) {
      return with_type(type(), [&](auto zero) {
        using T = decltype(zero);
        return over(Add<T>{input<T>(operand(1)), input<T>(operand(2)), number<T>(kernel_.parameter)});
      });
    }
    if (is("mul")) return with_type(type(), pair<Mul>());
    if (is("maximum")) return with_type(type(), pair<Maximum>());
    if (is("minimum")) return with_type(type(), pair<Minimum>());
    if (is("div")) return with_floating(type(), pair<Div>());
    if (is("sigmoid_backward")) return with_floating(type(), pair<SigmoidBackward>());
    if (is("tanh_backward")) return with_floating(type(), pair<TanhBackward>());
    if (is("abs_backward")) return with_floating(type(), pair<AbsBackward>());
    if (is("threshold_backward")) return with_floating(type(), pair<ThresholdBackward>());
    if (is("clamp_min_backward")) return with_floating(type(), pair<ClampMinBackward>());
    if (is("clamp_max_backward")) return with_floating(type(), pair<ClampMaxBackward>());
    return DISTRUN_CUDA_NO_KERNEL;
  }
  int comparison() const {
    if (operand(0).type != DISTRUN_CUDA_BOOL) return DISTRUN_CUDA_NO_KERNEL;
    if (is("eq")) return with_type(type(), pair<Eq>());
    if (is("ne")) return with_type(type(), pair<Ne>());
    if (is("lt")) return with_type(type(), pair<Lt>());
    if (is("le")) return with_type(type(), pair<Le>());
    if (is("gt")) return with_type(type(), pair<Gt>());
    if (is("ge")) return with_type(type(), pair<Ge>());
    return DISTRUN_CUDA_NO_KERNEL;
  }
  template <class Function>
  auto pair() const {
    return [this](auto zero) {
      using T = decltype(zero);
      return over(Binary<T, Function>{input<T>(operand(1)), input<T>(operand(2)), number<T>(kernel_.parameter)});
    };
  }

  int choice() const {
    const int of_choice = operand(0).type;
    if (operand(2).type != of_choice || operand(3).type != of_choice) return DISTRUN_CUDA_NO_KERNEL;
    if (type() == DISTRUN_CUDA_BOOL) {
      if (is("where")) return with_size(of_choice, chosen<Where, bool>());
      if (is("dropout")) return with_floating(of_choice, chosen<Dropout, bool>());
    }
    if (type() != of_choice) return DISTRUN_CUDA_NO_KERNEL;
    if (is("clamp")) return with_number(of_choice, chosen<Clamp, void>());
    if (is("maximum_backward")) return with_floating(of_choice, chosen<MaximumBackward, void>());
    if (is("minimum_backward")) return with_floating(of_choice, chosen<MinimumBackward, void>());
    return DISTRUN_CUDA_NO_KERNEL;
  }
  // `Condition`: the type of the first input; void: that of the others.
  template <class Function, class Condition>
  auto chosen() const {
    return [this](auto zero) {
      using T = decltype(zero);
      using First = std::conditional_t<std::is_void<Condition>::value, T, Condition>;
      return over(Choice<First, T, Function>{input<First>(operand(1)), input<T>(operand(2)), input<T>(operand(3))});
    };
  }

  const distrun_cuda_kernel& kernel_;
  const Run& run_;
};

// Returns what `run` returns; see Dispatch.
template <class Run>
int dispatch(const distrun_cuda_kernel& kernel, const Run& run) {
  return Dispatch<Run>(kernel, run)();
}

}  // namespace distrun_cuda
