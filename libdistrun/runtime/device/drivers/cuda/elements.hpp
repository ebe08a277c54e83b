#pragma once
// The CUDA module's kernels, one element at a time. nvcc compiles them for the device; a host compiler accepts them
// too, so that the code of the GPU is tested on machines without one. The results are those of the CPU's kernels
// (runtime/tensor/kernels): integers wrap, and compilers must not fuse products and sums.
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>

#include "cuda_line.h"

#ifdef __CUDACC__
#define DISTRUN_BOTH __host__ __device__
#else
#define DISTRUN_BOTH
#endif

namespace distrun_cuda {

// ---- addresses of elements

// Addresses of the operands' elements with one index; null for a number.
struct Addresses {
  unsigned char* of[DISTRUN_CUDA_OPERANDS];
};

// Operands with a constant step from one element to the next.
struct Flat {
  unsigned char* begin[DISTRUN_CUDA_OPERANDS];
  std::int64_t step[DISTRUN_CUDA_OPERANDS];

  DISTRUN_BOTH Addresses at(std::uint64_t index) const {
    Addresses found;
    for (int k = 0; k < DISTRUN_CUDA_OPERANDS; ++k) {
      found.of[k] = begin[k] + static_cast<std::int64_t>(index) * step[k];
    }
    return found;
  }
};

// All other operands. Elements are numbered row by row.
struct Strided {
  unsigned char* begin[DISTRUN_CUDA_OPERANDS];
  std::int64_t sizes[DISTRUN_CUDA_DIMS];
  std::int64_t strides[DISTRUN_CUDA_OPERANDS][DISTRUN_CUDA_DIMS];
  int dims;

  DISTRUN_BOTH Addresses at(std::uint64_t index) const {
    Addresses found;
    for (int k = 0; k < DISTRUN_CUDA_OPERANDS; ++k) found.of[k] = begin[k];
    for (int dim = dims; dim-- > 0;) {
      const std::uint64_t size = static_cast<std::uint64_t>(sizes[dim]);
      const std::int64_t place = static_cast<std::int64_t>(index % size);
      index /= size;
      for (int k = 0; k < DISTRUN_CUDA_OPERANDS; ++k) found.of[k] += place * strides[k][dim];
    }
    return found;
  }
};
static_assert(sizeof(Strided) < 4000, "the parameters of a CUDA kernel have at most 4 KiB");

// A number has a null address and steps of 0, so it stays null.
inline Flat flat(const distrun_cuda_kernel& kernel) {
  Flat walk{};
  for (int k = 0; k < kernel.operands; ++k) {
    walk.begin[k] = static_cast<unsigned char*>(kernel.operand[k].address);
    walk.step[k] = kernel.dims == 0 || walk.begin[k] == nullptr ? 0 : kernel.operand[k].strides[0];
  }
  return walk;
}

inline Strided strided(const distrun_cuda_kernel& kernel) {
  Strided walk{};
  walk.dims = kernel.dims;
  for (int dim = 0; dim < kernel.dims; ++dim) walk.sizes[dim] = kernel.sizes[dim];
  for (int k = 0; k < kernel.operands; ++k) {
    walk.begin[k] = static_cast<unsigned char*>(kernel.operand[k].address);
    for (int dim = 0; dim < kernel.dims && walk.begin[k] != nullptr; ++dim) {
      walk.strides[k][dim] = kernel.operand[k].strides[dim];
    }
  }
  return walk;
}

inline std::uint64_t count_of(const distrun_cuda_kernel& kernel) {
  std::uint64_t count = 1;
  for (int dim = 0; dim < kernel.dims; ++dim) count *= static_cast<std::uint64_t>(kernel.sizes[dim]);
  return count;
}

// ---- single elements

template <class T>
DISTRUN_BOTH T read(const unsigned char* address) {
  return *reinterpret_cast<const T*>(address);
}
template <>
DISTRUN_BOTH inline bool read<bool>(const unsigned char* address) {
  return *address != 0;
}

template <class T>
DISTRUN_BOTH void write(unsigned char* address, T value) {
  *reinterpret_cast<T*>(address) = value;
}

template <class T>
T number(std::uint64_t bytes) {
  T value;
  std::memcpy(&value, &bytes, sizeof value);
  return value;
}
template <>
inline bool number<bool>(std::uint64_t bytes) {
  return number<unsigned char>(bytes) != 0;
}

// Integers are computed as unsigned types, wide enough that promotion does not make them signed.
template <class T>
using Wide = std::conditional_t<std::is_floating_point<T>::value, T,
                                std::conditional_t<sizeof(T) == 8, std::uint64_t, std::uint32_t>>;

// A floating number that the integer cannot hold becomes the smallest integer, as on x86; integers of 8 and 16 bits are
// truncated from one of 64.
template <class To, class From>
DISTRUN_BOTH To truncated(From value) {
  using Whole = std::conditional_t<sizeof(To) == 4, std::int32_t, std::int64_t>;
  constexpr Whole kLeast = sizeof(To) == 4 ? -2147483647LL - 1 : -9223372036854775807LL - 1;
  constexpr From kLimit = -static_cast<From>(kLeast);
  return static_cast<To>(value >= -kLimit && value < kLimit ? static_cast<Whole>(value) : kLeast);
}

template <class To, class From>
DISTRUN_BOTH To convert(From value) {
  if constexpr (std::is_same<To, bool>::value) {
    return value != From{0};
  } else if constexpr (std::is_floating_point<From>::value && !std::is_floating_point<To>::value) {
    return truncated<To>(value);
  } else {
    return static_cast<To>(value);
  }
}

// ---- operations

template <class T>
struct Fill {
  T value;
  DISTRUN_BOTH void operator()(const Addresses& at) const { write<T>(at.of[0], value); }
};

template <class To>
struct Copy {
  int from;
  DISTRUN_BOTH To read_as(const unsigned char* address) const {
    switch (from) {
      case DISTRUN_CUDA_BOOL: return convert<To>(read<bool>(address));
      case DISTRUN_CUDA_U8: return convert<To>(read<std::uint8_t>(address));
      case DISTRUN_CUDA_I8: return convert<To>(read<std::int8_t>(address));
      case DISTRUN_CUDA_I16: return convert<To>(read<std::int16_t>(address));
      case DISTRUN_CUDA_I32: return convert<To>(read<std::int32_t>(address));
      case DISTRUN_CUDA_I64: return convert<To>(read<std::int64_t>(address));
      case DISTRUN_CUDA_F32: return convert<To>(read<float>(address));
      default: return convert<To>(read<double>(address));
    }
  }
  DISTRUN_BOTH void operator()(const Addresses& at) const { write<To>(at.of[0], read_as(at.of[1])); }
};

// An input: its elements, or the number that replaces them.
template <class T>
struct Input {
  T number;
  DISTRUN_BOTH T operator()(const unsigned char* address) const {
    return address == nullptr ? number : read<T>(address);
  }
};

template <class T>
struct Add {
  Input<T> a, b;
  T alpha;
  DISTRUN_BOTH static T sum(T a, T b, T alpha) {
    return static_cast<T>(static_cast<Wide<T>>(a) + static_cast<Wide<T>>(alpha) * static_cast<Wide<T>>(b));
  }
  DISTRUN_BOTH void operator()(const Addresses& at) const { write<T>(at.of[0], sum(a(at.of[1]), b(at.of[2]), alpha)); }
};
template <>
DISTRUN_BOTH inline bool Add<bool>::sum(bool a, bool b, bool alpha) {
  return a || (alpha && b);
}

// The other operations apply a function to elements, and to a parameter of their type.
template <class T, class Function>
struct Unary {
  Input<T> a;
  T parameter;
  DISTRUN_BOTH void operator()(const Addresses& at) const { write<T>(at.of[0], Function::of(a(at.of[1]), parameter)); }
};
template <class T, class Function>
struct Binary {
  Input<T> a, b;
  T parameter;
  DISTRUN_BOTH void operator()(const Addresses& at) const {
    write(at.of[0], Function::of(a(at.of[1]), b(at.of[2]), parameter));
  }
};
template <class First, class T, class Function>
struct Choice {
  Input<First> a;
  Input<T> b, c;
  DISTRUN_BOTH void operator()(const Addresses& at) const {
    write<T>(at.of[0], Function::of(a(at.of[1]), b(at.of[2]), c(at.of[3])));
  }
};

DISTRUN_BOTH inline float square_root(float a) { return sqrtf(a); }
DISTRUN_BOTH inline double square_root(double a) { return sqrt(a); }
DISTRUN_BOTH inline float absolute(float a) { return fabsf(a); }
DISTRUN_BOTH inline double absolute(double a) { return fabs(a); }
template <class T>
DISTRUN_BOTH T absolute(T a) {
  return std::is_signed<T>::value && a < T{0} ? static_cast<T>(Wide<T>{0} - static_cast<Wide<T>>(a)) : a;
}

#define DISTRUN_UNARY(Name, expression)                           \
  struct Name {                                                   \
    template <class T>                                            \
    DISTRUN_BOTH static T of(T a, [[maybe_unused]] T parameter) { \
      return expression;                                          \
    }                                                             \
  };
#define DISTRUN_BINARY(Name, Result, expression)                            \
  struct Name {                                                             \
    template <class T>                                                      \
    DISTRUN_BOTH static Result of(T a, T b, [[maybe_unused]] T parameter) { \
      return expression;                                                    \
    }                                                                       \
  };
#define DISTRUN_CHOICE(Name, expression)          \
  struct Name {                                   \
    template <class First, class T>               \
    DISTRUN_BOTH static T of(First a, T b, T c) { \
      return expression;                          \
    }                                             \
  };
DISTRUN_UNARY(Neg, std::is_floating_point<T>::value ? static_cast<T>(-a)
                                                    : static_cast<T>(Wide<T>{0} - static_cast<Wide<T>>(a)))
DISTRUN_UNARY(Abs, absolute(a))
DISTRUN_UNARY(Sqrt, square_root(a))
DISTRUN_UNARY(Rsqrt, T{1} / square_root(a))
DISTRUN_UNARY(Cube, static_cast<T>(static_cast<Wide<T>>(a) * static_cast<Wide<T>>(a) * static_cast<Wide<T>>(a)))
DISTRUN_UNARY(ClampMin, a < parameter ? parameter : a)
DISTRUN_UNARY(ClampMax, a > parameter ? parameter : a)
DISTRUN_BINARY(Mul, T, static_cast<T>(static_cast<Wide<T>>(a) * static_cast<Wide<T>>(b)))
DISTRUN_BINARY(Div, T, a / b)
DISTRUN_BINARY(Maximum, T, a < b || b != b ? b : a)
DISTRUN_BINARY(Minimum, T, a > b || b != b ? b : a)
DISTRUN_BINARY(SigmoidBackward, T, a*(T{1} - b) * b)
DISTRUN_BINARY(TanhBackward, T, a*(T{1} - b * b))
DISTRUN_BINARY(AbsBackward, T, b > 0 ? a : b < 0 ? -a : T{0})
DISTRUN_BINARY(ThresholdBackward, T, b <= parameter ? T{0} : a)
DISTRUN_BINARY(ClampMinBackward, T, b >= parameter ? a : T{0})
DISTRUN_BINARY(ClampMaxBackward, T, b <= parameter ? a : T{0})
DISTRUN_BINARY(Eq, bool, a == b)
DISTRUN_BINARY(Ne, bool, a != b)
DISTRUN_BINARY(Lt, bool, a < b)
DISTRUN_BINARY(Le, bool, a <= b)
DISTRUN_BINARY(Gt, bool, a > b)
DISTRUN_BINARY(Ge, bool, a >= b)
DISTRUN_CHOICE(Where, a ? b : c)
DISTRUN_CHOICE(Dropout, b*(a ? c : T{0}))
DISTRUN_CHOICE(MaximumBackward, b < c ? T{0} : b == c ? a / 2 : a)
DISTRUN_CHOICE(MinimumBackward, b > c ? T{0} : b == c ? a / 2 : a)
struct Clamp {
  template <class T>
  DISTRUN_BOTH static T of(T a, T least, T largest) {
    const T raised = a < least ? least : a;
    return raised > largest ? largest : raised;
  }
};
#undef DISTRUN_UNARY
#undef DISTRUN_BINARY
#undef DISTRUN_CHOICE

}  // namespace distrun_cuda

#undef DISTRUN_BOTH
