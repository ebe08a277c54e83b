#pragma once
// Conversions, exp, log, tanh, powers, sin and cos for the files *_kernels.cpp. The compiler can vectorize the float
// functions; they give the same numbers for every instruction set, exact to 2 units in the last place (sin and cos to
// 0.6). The double functions are the C library's. In an unnamed namespace, for the reason in table.hpp.
#include <cstdint>
#include <type_traits>

// Declares the loop's iterations independent: the compiler cannot see that output and input are identical or disjoint.
#if defined(__clang__)
#define DISTRUN_INDEPENDENT _Pragma("clang loop vectorize(assume_safety)")
#else
#define DISTRUN_INDEPENDENT _Pragma("GCC ivdep")
#endif

namespace distrun::tensor::kernels {
namespace {

template <class T>
inline constexpr bool is_float = std::is_floating_point_v<T>;

// A floating number beyond an integer's range becomes what x86 gives, without undefined behavior.
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

inline float square_root(float x) { return __builtin_sqrtf(x); }
inline double square_root(double x) { return __builtin_sqrt(x); }
inline float absolute(float x) { return __builtin_fabsf(x); }
inline double absolute(double x) { return __builtin_fabs(x); }

inline double exponential(double x) { return __builtin_exp(x); }

// e^x = 2^n e^r with |r| <= ln(2) / 2. The low bits of `shifted` are those of n.
struct ExponentialParts {
  float shifted, power;
};
// Adding it to a small number leaves the nearest integer in the low bits.
constexpr float kExponentialRounder = 0x1.8p23F;
inline ExponentialParts exponential_parts(float x) {
  const float shifted = x * 0x1.715476p0F + kExponentialRounder;
  const float n = shifted - kExponentialRounder;
  const float r = x - n * 0x1.62e4p-1F - n * 0x1.7f7d1cp-20F;  // ln(2) in two parts
  const float tail = 1.F / 6 + r * (1.F / 24 + r * (1.F / 120 + r * (1.F / 720 + r * (1.F / 5040))));
  return {shifted, 1 + (r + r * r * (0.5F + r * tail))};
}

// Multiplies with 2^n in two steps, since n exceeds the exponents of normal floats.
inline float exponential(float x) {
  const float least = x < -104 ? -104 : x;
  const float bounded = least > 104 ? 104 : least;  // e^104 is infinite, e^-104 is 0; NaN stays NaN
  const auto [shifted, power] = exponential_parts(bounded);
  const std::int32_t whole =
      __builtin_bit_cast(std::int32_t, shifted) - __builtin_bit_cast(std::int32_t, kExponentialRounder);
  const std::int32_t half = whole >> 1;
  const auto two_to = [](std::int32_t exponent) { return __builtin_bit_cast(float, (exponent + 127) << 23); };
  return power * two_to(half) * two_to(whole - half);
}

// Gives the same result for x <= 0 in fewer steps: 2^n is scaled by 2^64, so that it is normal.
inline float exponential_up_to_0(float x) {
  const auto [shifted, power] = exponential_parts(x < -104 ? -104 : x);
  const std::uint32_t exponent = (__builtin_bit_cast(std::uint32_t, shifted) + 127 + 64) << 23;
  return power * __builtin_bit_cast(float, exponent) * 0x1p-64F;
}
inline double exponential_up_to_0(double x) { return exponential(x); }

// Only for positive normal numbers: x = 2^n m with m from sqrt(1/2) to sqrt(2), and log m = 2 artanh s.
inline float logarithm(float x) {
  constexpr std::uint32_t kLeast = 0x3F3504F3;  // sqrt(1/2)
  const std::uint32_t above = __builtin_bit_cast(std::uint32_t, x) - kLeast;
  const auto n = static_cast<float>(static_cast<std::int32_t>(above) >> 23);
  const float m = __builtin_bit_cast(float, (above & 0x7FFFFF) + kLeast);
  const float s = (m - 1) / (m + 1), square = s * s;
  const float tail = square * (2.F / 3 + square * (2.F / 5 + square * (2.F / 7 + square * (2.F / 9))));
  return n * 0x1.62e4p-1F + (2 * s + (s * tail + n * 0x1.7f7d1cp-20F));  // ln(2) in two parts
}

inline double natural_logarithm(double x) { return __builtin_log(x); }

// x = 2^n m as above, and log m = f - (f^2 / 2 - s (f^2 / 2 + tail)) with f = m - 1, which is exact. Subnormal numbers
// are scaled first.
inline float natural_logarithm(float x) {
  constexpr std::uint32_t kLeast = 0x3F3504F3;  // sqrt(1/2)
  constexpr float kLeastNormal = 0x1p-126F, kInfinity = __builtin_inff();
  const float normal = x < kLeastNormal ? x * 0x1p23F : x;
  const std::uint32_t above = __builtin_bit_cast(std::uint32_t, normal) - kLeast;
  const float n = static_cast<float>(static_cast<std::int32_t>(above) >> 23) - (x < kLeastNormal ? 23.F : 0.F);
  const float f = __builtin_bit_cast(float, (above & 0x7FFFFF) + kLeast) - 1;
  const float s = f / (2 + f), square = s * s, half = 0.5F * f * f;
  const float tail = square * (2.F / 3 + square * (2.F / 5 + square * (2.F / 7 + square * (2.F / 9))));
  const float finite = n * 0x1.62e4p-1F + (f - (half - (s * (half + tail) + n * 0x1.7f7d1cp-20F)));
  const float positive = x < kInfinity ? finite : x;
  return x > 0 ? positive : x == 0 ? -kInfinity : __builtin_nanf("");
}

inline double hyperbolic_tangent(double x) { return __builtin_tanh(x); }

// A polynomial near zero, otherwise 1 - 2 / (e^2x + 1).
inline float hyperbolic_tangent(float x) {
  const float size = __builtin_fabsf(x), square = size * size;
  const float slope =
      -0.3333332F +
      square * (0.13332602F + square * (-0.05385386F + square * (0.021077758F + square * -0.0062824725F)));
  const float near = size + size * (square * slope);
  const float far = 1 - 2 / (exponential(2 * size) + 1);
  return __builtin_copysignf(size < 0.55F ? near : far, x);
}

// Returns log2 of any non-negative float, exact to 2^-40.
inline double binary_logarithm(double x) {
  constexpr double kInfinity = __builtin_inf();
  constexpr std::uint64_t kLeast = 0x3FE6A09E667F3BCD;  // sqrt(1/2)
  const std::uint64_t above = __builtin_bit_cast(std::uint64_t, x) - kLeast;
  // A double with these digits equals 2^52 plus the exponent and 1024.
  const std::uint64_t biased = (above + (std::uint64_t{1024} << 52)) >> 52;
  const double n = __builtin_bit_cast(double, biased | 0x4330000000000000) - (0x1p52 + 1024);
  const double m = __builtin_bit_cast(double, (above & 0xFFFFFFFFFFFFF) + kLeast);
  const double s = (m - 1) / (m + 1), square = s * s;
  const double tail =
      0.33333333337907317 +
      square * (0.19999997808440423 +
                square * (0.14286054857327765 + square * (0.11088082098690052 + square * 0.09792260794163611)));
  const double finite = n + 0x1.71547652b82fep1 * (s + s * square * tail);  // 2 / ln(2)
  return x == 0 ? -kInfinity : x < kInfinity ? finite : x;
}

// Returns 2^x, exact to 2^-34. Results beyond float's range become infinite or 0 in float.
inline double two_to(double x) {
  constexpr double kRounder = 0x1.8p52;
  const double least = x < -200 ? -200 : x;
  const double bounded = least > 200 ? 200 : least;
  const double shifted = bounded + kRounder;
  const double r = bounded - (shifted - kRounder);
  const double part =
      0.9999999999595498 +
      r * (0.6931471805350231 +
           r * (0.24022651213584428 +
                r * (0.05550410976117879 +
                     r * (0.009618025604102281 +
                          r * (0.0013333422638709188 + r * (0.00015469731673204017 + r * 1.531646321765332e-05))))));
  const std::uint64_t scale = (__builtin_bit_cast(std::uint64_t, shifted) + 1023) << 52;
  return part * __builtin_bit_cast(double, scale);
}

inline double power(double base, double exponent) { return __builtin_pow(base, exponent); }

// Follows C's pow() for signs, zeros and infinities. Computes in double throughout, so that masks have one width.
inline float power(float base_, float exponent_) {
  constexpr double kInfinity = __builtin_inf(), kRounder = 0x1.8p52;
  const double base = base_, exponent = exponent_;
  const double size = __builtin_fabs(base), steepness = __builtin_fabs(exponent);
  const double result = two_to(exponent * binary_logarithm(size));
  const double small = steepness < 0x1p24 ? exponent : 0;  // all larger ones are even
  const double shifted = small + kRounder;
  const double part = small - (shifted - kRounder);  // 0: an integer; its lowest bit says if it is odd
  const std::uint64_t odd = part == 0 ? __builtin_bit_cast(std::uint64_t, shifted) << 63 : 0;
  const std::uint64_t sign = __builtin_bit_cast(std::uint64_t, base) & odd;
  const double with_sign = __builtin_bit_cast(double, __builtin_bit_cast(std::uint64_t, result) | sign);
  const double of_negative = part == 0 ? with_sign : __builtin_nan("");
  const double of_any = base < 0 ? (size < kInfinity ? of_negative : with_sign) : with_sign;
  const double of_one = base == -1 ? (steepness == kInfinity ? 1 : of_any) : base == 1 ? 1 : of_any;
  return static_cast<float>(exponent == 0 ? 1 : of_one);
}

// Repeated squaring. A negative integer exponent gives 1 / a, truncated to an integer.
template <class T>
T integer_power(T base, T exponent) {
  using Whole = std::conditional_t<sizeof(T) == 8, std::uint64_t, std::uint32_t>;
  if constexpr (std::is_signed_v<T>) {
    if (exponent < 0) return static_cast<T>(base == 1 ? 1 : base == -1 ? 1 - 2 * (exponent & 1) : 0);
  }
  Whole result = 1, square = static_cast<Whole>(base);
  for (auto left = static_cast<Whole>(exponent); left != 0; left >>= 1) {
    if ((left & 1) != 0) result *= square;
    square *= square;
  }
  return static_cast<T>(result);
}

// Computes in double: sin and cos of x minus the nearest multiple of pi / 2. The low bits of `shifted` select the
// function and the sign.
constexpr float kMostTurned = 1e6F;  // up to this the multiple and the difference are exact enough
inline bool is_turned(float x) { return __builtin_fabsf(x) <= kMostTurned; }
inline float sine_of_turned(float x, std::uint64_t quarter_turns) {
  constexpr double kRounder = 0x1.8p52;
  const double shifted = x * 0x1.45f306dc9c883p-1 + kRounder;
  const double n = shifted - kRounder;
  const double r = x - n * 0x1.921fb544p0 - n * 0x1.0b4611a626331p-34;  // pi / 2 in two parts
  const double square = r * r;
  const std::uint64_t turns = __builtin_bit_cast(std::uint64_t, shifted) + quarter_turns;
  const bool is_cosine = (turns & 1) != 0;
  // The rest of Taylor's series after its first term, fitted to 0 .. pi / 4.
  const double series = (is_cosine ? -0.49999999968995856 : -0.16666666663844043) +
                        square * ((is_cosine ? 0.04166665059653939 : 0.008333331870341033) +
                                  square * ((is_cosine ? -0.0013887586565182954 : -0.00019840084376300266) +
                                            square * (is_cosine ? 2.4463452585207358e-05 : 2.724962006449013e-06)));
  const double found = (is_cosine ? 1 : r) * (1 + square * series);  // keeps -0
  const std::uint64_t sign = (turns & 2) << 62;
  return static_cast<float>(__builtin_bit_cast(double, __builtin_bit_cast(std::uint64_t, found) ^ sign));
}

}  // namespace
}  // namespace distrun::tensor::kernels
