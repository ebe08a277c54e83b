#pragma once
// exp, sin and cos for element_kernels.cpp. Of those of float the compiler can make vectors, with the same numbers for
// every instruction set and exact to 2 units in the last place, sin and cos to 0.6; those of double are the C
// library's. In an unnamed namespace, for the reason in table.hpp.
#include <cstdint>

namespace distrun::tensor::kernels {
namespace {

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

}  // namespace
}  // namespace distrun::tensor::kernels
