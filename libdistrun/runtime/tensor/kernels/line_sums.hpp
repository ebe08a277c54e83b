#pragma once
// How the files *_kernels.cpp put a line of elements together: side by side in lanes, then lane by lane. The order
// depends on the number of elements alone. See loops.hpp.
#include <distrun/runtime/tensor/kernels/functions.hpp>

namespace distrun::tensor::kernels {
namespace {

constexpr std::int64_t kLanes = 16;

// Halves on each other. As vectors from the first, for what is stored one by one is slow to get back as vectors.
inline double sum_of_lanes(const double (&lanes)[kLanes]) {
  typedef double Four __attribute__((vector_size(4 * sizeof(double))));
  Four fours[4];
  __builtin_memcpy(fours, lanes, sizeof fours);
  const Four sums = (fours[0] + fours[2]) + (fours[1] + fours[3]);
  return (sums[0] + sums[2]) + (sums[1] + sums[3]);
}

// The sum of value_at(i), each of them a double.
template <class ValueAt>
double sum_of_values(std::int64_t count, const ValueAt value_at) {
  const auto sum_from = [&](std::int64_t i) {
    double sum = 0;
    for (; i < count; ++i) sum += value_at(i);
    return sum;
  };
  if (count < kLanes) return sum_from(0);
  double lanes[kLanes] = {};
  std::int64_t i = 0;
  do {
    for (std::int64_t lane = 0; lane < kLanes; ++lane) lanes[lane] += value_at(i + lane);
    i += kLanes;
  } while (i + kLanes <= count);
  return sum_of_lanes(lanes) + sum_from(i);
}

}  // namespace
}  // namespace distrun::tensor::kernels
