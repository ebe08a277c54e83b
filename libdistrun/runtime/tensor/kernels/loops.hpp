#pragma once
// Shared by the files *_kernels.cpp: loops over runs of elements for an operator on single elements, and macros for
// their tables. An operator is a struct
//
//   template <class T>
//   struct Neg {
//     static constexpr bool kIsFor = ...;      // whether T is supported; comparisons support all
//     explicit Neg(const void* parameter);     // the constant, of type T
//     T operator()(T a) const;                 // of one element; two for a binary one
//   };
//
// In an unnamed namespace, for the reason in table.hpp. Multiplications and additions are not fused
// (-ffp-contract=off), so that all instruction sets give the same numbers.
#include <distrun/runtime/tensor/kernels/functions.hpp>
#include <distrun/runtime/tensor/kernels/table.hpp>

namespace distrun::tensor::kernels {
namespace {

// Integers wrap: they are computed in an unsigned type that is not promoted to a signed one.
template <class T>
using Wide = std::conditional_t<is_float<T>, T, std::conditional_t<sizeof(T) == 8, std::uint64_t, std::uint32_t>>;

template <class T>
T constant(const void* parameter) {
  return *static_cast<const T*>(parameter);
}

template <class T>
bool is_packed(std::int64_t stride) {
  return stride == static_cast<std::int64_t>(sizeof(T));
}
template <class T>
T* at(std::byte* data, std::int64_t offset) {
  return reinterpret_cast<T*>(data + offset);
}

// An operator with kIsSplit has plain(), which the compiler can vectorize, for all elements except where is_plain()
// returns false.
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

// Calls run(data) for each run; there is at least one.
template <int kBlocks, class Each>
void for_each_run(std::byte* const* first, Steps down, const Each& run) {
  std::byte* data[kBlocks];
  for (int block = 0; block < kBlocks; ++block) data[block] = first[block];
  for (;;) {
    run(data);
    if (--down.count == 0) return;
    for (int block = 0; block < kBlocks; ++block) data[block] += down.strides[block];
  }
}

template <class Op, class In, class Out>
void packed_unary_run(const Op op, Out* out, const In* a, std::int64_t count) {
  if constexpr (requires { Op::kIsSplit; }) return split_run(op, out, a, count);
  DISTRUN_INDEPENDENT
  for (std::int64_t i = 0; i < count; ++i) out[i] = op(a[i]);
}

// Runs of one repeated number. A separate function, so that the compiler optimizes the other runs alone.
template <class Op, class In, class Out>
[[gnu::noinline]] void repeated_unary_run(const Op op, std::byte* const* first, std::int64_t count, Steps down) {
  for_each_run<2>(first, down, [op, count](std::byte* const* data) {
    const Out result = op(*at<In>(data[1], 0));
    Out* out = at<Out>(data[0], 0);
    for (std::int64_t i = 0; i < count; ++i) out[i] = result;
  });
}

template <class Op, class In, class Out>
void unary_run(std::byte* const* first, Steps along, Steps down, const void* parameter) {
  const Op op(parameter);
  const std::int64_t out_stride = along.strides[0], stride = along.strides[1], count = along.count;
  if (is_packed<Out>(out_stride) && is_packed<In>(stride)) {
    return for_each_run<2>(first, down, [op, count](std::byte* const* data) {
      packed_unary_run(op, at<Out>(data[0], 0), at<const In>(data[1], 0), count);
    });
  }
  if (is_packed<Out>(out_stride) && stride == 0) return repeated_unary_run<Op, In, Out>(op, first, count, down);
  for_each_run<2>(first, down, [op, count, out_stride, stride](std::byte* const* data) {
    for (std::int64_t i = 0; i < count; ++i) {
      *at<Out>(data[0], i * out_stride) = op(*at<In>(data[1], i * stride));
    }
  });
}

template <class Op, class In, class Out>
void packed_binary_run(const Op op, Out* out, const In* a, const In* b, std::int64_t count) {
  DISTRUN_INDEPENDENT
  for (std::int64_t i = 0; i < count; ++i) out[i] = op(a[i], b[i]);
}
// Calls run(numbers, start, size) for parts of the elements; `numbers` repeats the number `size` times.
template <class T, class Run>
void in_parts_beside(const T number, std::int64_t count, const Run& run) {
  constexpr std::int64_t kPart = 256;
  T numbers[kPart];
  for (std::int64_t i = 0; i < (count < kPart ? count : kPart); ++i) numbers[i] = number;
  for (std::int64_t start = 0; start < count; start += kPart) {
    run(numbers, start, count - start < kPart ? count - start : kPart);
  }
}

// An operator with kTakesRuns receives a number as a run of equal ones: if the compiler hoisted conditions on the
// number out of the loop, it would not vectorize it.
template <class Op, class In, class Out>
void left_binary_run(const Op op, Out* out, const In* a, const In b, std::int64_t count) {
  if constexpr (requires { Op::kTakesRuns; }) {
    return in_parts_beside(b, count, [&](const In* numbers, std::int64_t start, std::int64_t size) {
      packed_binary_run(op, out + start, a + start, numbers, size);
    });
  }
  DISTRUN_INDEPENDENT
  for (std::int64_t i = 0; i < count; ++i) out[i] = op(a[i], b);
}
template <class Op, class In, class Out>
void right_binary_run(const Op op, Out* out, const In a, const In* b, std::int64_t count) {
  if constexpr (requires { Op::kTakesRuns; }) {
    return in_parts_beside(a, count, [&](const In* numbers, std::int64_t start, std::int64_t size) {
      packed_binary_run(op, out + start, numbers, b + start, size);
    });
  }
  DISTRUN_INDEPENDENT
  for (std::int64_t i = 0; i < count; ++i) out[i] = op(a, b[i]);
}

template <class Op, class In, class Out>
void binary_run(std::byte* const* first, Steps along, Steps down, const void* parameter) {
  const Op op(parameter);
  const std::int64_t count = along.count, out_stride = along.strides[0];
  const std::int64_t a_stride = along.strides[1], b_stride = along.strides[2];
  const auto for_each = [first, down](const auto& run) {
    for_each_run<3>(first, down, [&run](std::byte* const* data) {
      run(at<Out>(data[0], 0), at<const In>(data[1], 0), at<const In>(data[2], 0));
    });
  };
  const bool is_out_packed = is_packed<Out>(out_stride);
  const bool is_a_packed = is_packed<In>(a_stride);
  const bool is_b_packed = is_packed<In>(b_stride);
  if (is_out_packed && is_a_packed && is_b_packed) {
    return for_each([op, count](Out* out, const In* a, const In* b) { packed_binary_run(op, out, a, b, count); });
  }
  if (is_out_packed && is_a_packed && b_stride == 0) {
    return for_each([op, count](Out* out, const In* a, const In* b) { left_binary_run(op, out, a, *b, count); });
  }
  if (is_out_packed && a_stride == 0 && is_b_packed) {
    return for_each([op, count](Out* out, const In* a, const In* b) { right_binary_run(op, out, *a, b, count); });
  }
  for_each_run<3>(first, down, [op, count, out_stride, a_stride, b_stride](std::byte* const* data) {
    for (std::int64_t i = 0; i < count; ++i) {
      *at<Out>(data[0], i * out_stride) = op(*at<In>(data[1], i * a_stride), *at<In>(data[2], i * b_stride));
    }
  });
}

// One of several inputs: contiguous elements, or one repeated element.
template <class T>
struct Packed {
  const T* begin;
  T operator[](std::int64_t i) const { return begin[i]; }
};
template <class T>
struct Repeated {
  T value;
  T operator[](std::int64_t) const { return value; }
};

template <class Op, class Out, class First, class Second, class Third>
void packed_ternary_run(const Op op, Out* out, const First a, const Second b, const Third c, std::int64_t count) {
  DISTRUN_INDEPENDENT
  for (std::int64_t i = 0; i < count; ++i) out[i] = op(a[i], b[i], c[i]);
}

// Calls run(Packed) or run(Repeated); returns false if neither applies.
template <class T, class Run>
bool with_input(const std::byte* data, std::int64_t stride, const Run& run) {
  const T* begin = reinterpret_cast<const T*>(data);
  if (is_packed<T>(stride)) return run(Packed<T>{begin});
  return stride == 0 && run(Repeated<T>{*begin});
}

template <class Op, class First, class T>
void one_ternary_run(const Op op, std::byte* const* data, Steps along) {
  const std::int64_t count = along.count, *const strides = along.strides;
  const auto run_packed = [&] {
    return is_packed<T>(strides[0]) && with_input<First>(data[1], strides[1], [&](auto a) {
             return with_input<T>(data[2], strides[2], [&](auto b) {
               return with_input<T>(data[3], strides[3], [&](auto c) {
                 packed_ternary_run(op, at<T>(data[0], 0), a, b, c, count);
                 return true;
               });
             });
           });
  };
  if (run_packed()) return;
  for (std::int64_t i = 0; i < count; ++i) {
    *at<T>(data[0], i * strides[0]) =
        op(*at<First>(data[1], i * strides[1]), *at<T>(data[2], i * strides[2]), *at<T>(data[3], i * strides[3]));
  }
}
template <class Op, class First, class T>
void ternary_run(std::byte* const* first, Steps along, Steps down, const void*) {
  for_each_run<4>(first, down, [along](std::byte* const* data) { one_ternary_run<Op, First, T>(Op(), data, along); });
}

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
template <template <class> class Op, class T>
constexpr Run comparison_entry() {
  return &binary_run<Op<T>, T, bool>;
}
template <template <class> class Op, class T>
constexpr Run choice_entry() {
  if constexpr (Op<T>::kIsFor) {
    return &ternary_run<Op<T>, typename Op<T>::First, T>;
  } else {
    return nullptr;
  }
}

// In the order of DType.
#define DISTRUN_FOR_DTYPES(entry)                                                                   \
  {                                                                                                 \
    entry(bool), entry(std::uint8_t), entry(std::int8_t), entry(std::int16_t), entry(std::int32_t), \
        entry(std::int64_t), entry(float), entry(double)                                            \
  }
// A row of a table: unary_entry<Neg, T>() for each dtype.
#define DISTRUN_ROW(entry, Op)                                                                         \
  {                                                                                                    \
    entry<Op, bool>(), entry<Op, std::uint8_t>(), entry<Op, std::int8_t>(), entry<Op, std::int16_t>(), \
        entry<Op, std::int32_t>(), entry<Op, std::int64_t>(), entry<Op, float>(), entry<Op, double>()  \
  }

}  // namespace
}  // namespace distrun::tensor::kernels

// The name of a table for the instruction set being compiled.
#define DISTRUN_JOIN(a, b) a##b
#define DISTRUN_NAMED(prefix, set) DISTRUN_JOIN(prefix, set)
