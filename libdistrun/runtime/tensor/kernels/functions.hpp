#pragma once
// Conversions, exp, log, sin, cos and normal numbers for the files *_kernels.cpp. Of functions of float the compiler
// can make vectors, with the same numbers for every instruction set and exact to 2 units in the last place, sin and cos
// to 0.6; those of double are the C library's. In an unnamed namespace, for the reason in table.hpp.
#include <cstdint>
#include <type_traits>

// The loop's rounds do not depend on each other, though the compiler can't see that output and input are the same run
// or apart.
#if defined(__clang__)
#define DISTRUN_INDEPENDENT _Pragma("clang loop vectorize(assume_safety)")
#else
#define DISTRUN_INDEPENDENT _Pragma("GCC ivdep")
#endif

namespace distrun::tensor::kernels {
namespace {

template <class T>
inline constexpr bool is_float = std::is_floating_point_v<T>;

// A floating number that an integer cannot hold becomes what x86 makes of it, and nothing undefined.
template <class To, class From>
To convert_one(From value) {
  if constexpr (std::is_same_v<To, bool>) {
    return value != From{0};
  } else if constexpr (is_float<From> && !is_float<To>) {
    using Whole = std::conditional_t<sizeof(To) == 4, std::int32_t, std::int64_t>;
    constexpr Whole kLeast = sizeof(To) == 4 ? INT32_MIN : INT64_MIN;
    constexpr From kLimit = -static_cast<From>(kLeast);
    return static_cast<To>(value >= -kLimit && value < kLimit ? static_cast<Whole>(value) : kLeast);
  } else {
    return static_cast<To>(value);
  }
}

inline double exponential(double x) { return __builtin_exp(x); }

// e^x = 2^n e^r with |r| <= ln(2) / 2. 2^n is multiplied in two steps, as n goes beyond the exponents of normal floats.
inline float exponential(float x) {
  constexpr float kRounder = 0x1.8p23F;  // added to a small number it leaves the nearest integer in the low bits
  const float least = x < -104 ? -104 : x;
  const float bounded = least > 104 ? 104 : least;  // e^104 is infinite, e^-104 is 0; not a number stays so
  const float shifted = bounded * 0x1.715476p0F + kRounder;
  const float n = shifted - kRounder;
  const float r = bounded - n * 0x1.62e4p-1F - n * 0x1.7f7d1cp-20F;  // ln(2), in two parts
  const float tail = 1.F / 6 + r * (1.F / 24 + r * (1.F / 120 + r * (1.F / 720 + r * (1.F / 5040))));
  const float power = 1 + (r + r * r * (0.5F + r * tail));
  const std::int32_t whole = __builtin_bit_cast(std::int32_t, shifted) - __builtin_bit_cast(std::int32_t, kRounder);
  const std::int32_t half = whole >> 1;
  const auto two_to = [](std::int32_t exponent) { return __builtin_bit_cast(float, (exponent + 127) << 23); };
  return power * two_to(half) * two_to(whole - half);
}

// Of positive normal numbers: x = 2^n m with m from sqrt(1/2) to sqrt(2), and log m = 2 artanh s.
inline float logarithm(float x) {
  constexpr std::uint32_t kLeast = 0x3F3504F3;  // sqrt(1/2)
  const std::uint32_t above = __builtin_bit_cast(std::uint32_t, x) - kLeast;
  const auto n = static_cast<float>(static_cast<std::int32_t>(above) >> 23);
  const float m = __builtin_bit_cast(float, (above & 0x7FFFFF) + kLeast);
  const float s = (m - 1) / (m + 1), square = s * s;
  const float tail = square * (2.F / 3 + square * (2.F / 5 + square * (2.F / 7 + square * (2.F / 9))));
  return n * 0x1.62e4p-1F + (2 * s + (s * tail + n * 0x1.7f7d1cp-20F));  // ln(2), in two parts
}

// Worked out in double: sin and cos of x less the nearest multiple of pi / 2, of which the low bits of `shifted` tell
// which one it is, and which sign it has.
constexpr float kMostTurned = 1e6F;  // up to that the multiple and the difference are exact enough
inline bool is_turned(float x) { return __builtin_fabsf(x) <= kMostTurned; }
inline float sine_of_turned(float x, std::uint64_t quarter_turns) {
  constexpr double kRounder = 0x1.8p52;
  const double shifted = x * 0x1.45f306dc9c883p-1 + kRounder;
  const double n = shifted - kRounder;
  const double r = x - n * 0x1.921fb544p0 - n * 0x1.0b4611a626331p-34;  // pi / 2, in two parts
  const double square = r * r;
  const double of_sine =
      -1. / 6 + square * (1. / 120 + square * (-1. / 5040 + square * (1. / 362880 + square * (-1. / 39916800))));
  const double of_cosine =
      -1. / 2 + square * (1. / 24 + square * (-1. / 720 + square * (1. / 40320 + square * (-1. / 3628800))));
  const std::uint64_t turns = __builtin_bit_cast(std::uint64_t, shifted) + quarter_turns;
  const std::uint64_t is_odd = 0 - (turns & 1);
  const auto sine = __builtin_bit_cast(std::uint64_t, r + r * square * of_sine);
  const auto cosine = __builtin_bit_cast(std::uint64_t, 1 + square * of_cosine);
  const std::uint64_t chosen = (cosine & is_odd) | (sine & ~is_odd);
  return static_cast<float>(__builtin_bit_cast(double, chosen ^ (turns & 2) << 62));
}

// Box and Muller's.
inline void make_normal(float* pairs, std::int64_t count) {
  DISTRUN_INDEPENDENT
  for (std::int64_t i = 0; i < count; ++i) {
    const float radius = __builtin_sqrtf(-2 * logarithm(1 - pairs[2 * i]));
    const float angle = 0x1.921fb6p2F * pairs[2 * i + 1];
    pairs[2 * i] = radius * sine_of_turned(angle, 1);
    pairs[2 * i + 1] = radius * sine_of_turned(angle, 0);
  }
}

}  // namespace
}  // namespace distrun::tensor::kernels
