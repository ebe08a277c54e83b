#pragma once
// The CUDA module's kernels, an element at a time. nvcc compiles them for the device; a host compiler takes them too,
// so that the very code which a GPU runs is tested on machines that have none. The numbers are those of the CPU's
// kernels (runtime/tensor/kernels): integers wrap, and products and sums must not be fused by
// whoever compiles this.
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

// ---- where elements are

// Of the operands' elements with one index; null for a number.
struct Addresses {
  unsigned char* of[DISTRUN_CUDA_OPERANDS];
};

// Operands that need no more than a step from one element to the next.
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

// Any others. Elements are numbered row by row.
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

// Integers are worked with as unsigned ones that no promotion makes signed again.
template <class T>
using Wide = std::conditional_t<std::is_floating_point<T>::value, T,
                                std::conditional_t<sizeof(T) == 8, std::uint64_t, std::uint32_t>>;

// A floating number that the integer cannot hold becomes the least one, as on x86; those of 8 and 16 bits are cut from
// one of 64.
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

// An input: its elements, or the number in their place.
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

template <class T>
struct Mul {
  Input<T> a, b;
  DISTRUN_BOTH void operator()(const Addresses& at) const {
    write<T>(at.of[0], static_cast<T>(static_cast<Wide<T>>(a(at.of[1])) * static_cast<Wide<T>>(b(at.of[2]))));
  }
};

// ---- which one a kernel is

// Calls take(T{}) with the type of elements.
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

template <class Run, class Operation>
int run_over(const distrun_cuda_kernel& kernel, const Run& run, const Operation& operation) {
  const std::uint64_t count = count_of(kernel);
  return kernel.dims <= 1 ? run(operation, flat(kernel), count) : run(operation, strided(kernel), count);
}

// Calls run(operation, walk, count), which does operation(walk.at(i)) for each i < count, and returns what that
// returns. DISTRUN_CUDA_NO_KERNEL for what is none of these.
template <class Run>
int dispatch(const distrun_cuda_kernel& kernel, const Run& run) {
  const auto is = [&](const char* operation, int operands) {
    return std::strcmp(kernel.operation, operation) == 0 && kernel.operands == operands;
  };
  const distrun_cuda_operand& out = kernel.operand[0];
  const distrun_cuda_operand& a = kernel.operand[1];
  const distrun_cuda_operand& b = kernel.operand[2];
  if (is("fill", 1)) {
    return with_type(out.type, [&](auto zero) {
      return run_over(kernel, run, Fill<decltype(zero)>{number<decltype(zero)>(kernel.parameter)});
    });
  }
  if (is("copy", 2) && a.address != nullptr) {
    return with_type(out.type, [&](auto zero) { return run_over(kernel, run, Copy<decltype(zero)>{a.type}); });
  }
  if (kernel.operands != 3 || a.type != out.type || b.type != out.type) return DISTRUN_CUDA_NO_KERNEL;
  if (is("add", 3)) {
    return with_type(out.type, [&](auto zero) {
      using T = decltype(zero);
      return run_over(kernel, run, Add<T>{{number<T>(a.number)}, {number<T>(b.number)}, number<T>(kernel.parameter)});
    });
  }
  if (is("mul", 3)) {
    return with_type(out.type, [&](auto zero) {
      using T = decltype(zero);
      return run_over(kernel, run, Mul<T>{{number<T>(a.number)}, {number<T>(b.number)}});
    });
  }
  return DISTRUN_CUDA_NO_KERNEL;
}

}  // namespace distrun_cuda

#undef DISTRUN_BOTH
