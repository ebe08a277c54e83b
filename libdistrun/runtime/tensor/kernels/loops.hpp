#pragma once
// What the files *_kernels.cpp share: loops over runs of elements, made for an operator of single elements, and how
// their tables are written. An operator is a struct
//
//   template <class T>
//   struct Neg {
//     static constexpr bool kIsFor = ...;      // whether there is one for T; comparisons are for all
//     explicit Neg(const void* parameter);     // the constant, of type T
//     T operator()(T a) const;                 // of one element; two for a binary one
//   };
//
// In an unnamed namespace, for the reason in table.hpp. Products and sums are not fused (-ffp-contract=off), so that
// all instruction sets give the same numbers.
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

template <class T>
bool is_packed(std::int64_t stride) {
  return stride == static_cast<std::int64_t>(sizeof(T));
}
template <class T>
T* at(std::byte* data, std::int64_t offset) {
  return reinterpret_cast<T*>(data + offset);
}

// An operator with kIsSplit has plain(), of which the compiler can make vectors, for all elements but those of which
// is_plain() is false.
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
// Calls run(numbers, start, size) for parts of the elements, with as many equal numbers.
template <class T, class Run>
void in_parts_beside(const T number, std::int64_t count, const Run& run) {
  constexpr std::int64_t kPart = 256;
  T numbers[kPart];
  for (T& each : numbers) each = number;
  for (std::int64_t start = 0; start < count; start += kPart) {
    run(numbers, start, count - start < kPart ? count - start : kPart);
  }
}

// An operator with kTakesRuns gets a number as a run of equal ones: of a loop whose conditions on it were taken out of
// the loop, the compiler would make no vectors.
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

// An input of several: its elements one after the other, or one that repeats itself.
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

// Calls run(Packed) or run(Repeated), or returns false.
template <class T, class Run>
bool with_input(const std::byte* data, std::int64_t stride, const Run& run) {
  const T* begin = reinterpret_cast<const T*>(data);
  if (is_packed<T>(stride)) return run(Packed<T>{begin});
  return stride == 0 && run(Repeated<T>{*begin});
}

template <class Op, class First, class T>
void ternary_run(std::byte* const* data, const std::int64_t* strides, std::int64_t count, const void*) {
  const Op op;
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
// A row of a table: unary_entry<Neg, T>() for each.
#define DISTRUN_ROW(entry, Op)                                                                         \
  {                                                                                                    \
    entry<Op, bool>(), entry<Op, std::uint8_t>(), entry<Op, std::int8_t>(), entry<Op, std::int16_t>(), \
        entry<Op, std::int32_t>(), entry<Op, std::int64_t>(), entry<Op, float>(), entry<Op, double>()  \
  }

}  // namespace
}  // namespace distrun::tensor::kernels

// The name of a table of the instruction set that is compiled for.
#define DISTRUN_JOIN(a, b) a##b
#define DISTRUN_NAMED(prefix, set) DISTRUN_JOIN(prefix, set)
