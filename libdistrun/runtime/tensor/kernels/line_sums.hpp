#pragma once
// Reduces a line of elements for the files *_kernels.cpp: side by side in lanes, then lane by lane. The order depends
// on the number of elements only. See loops.hpp.
#include <distrun/runtime/tensor/kernels/functions.hpp>

namespace distrun::tensor::kernels {
namespace {

constexpr std::int64_t kLanes = 16;

// Adds halves to each other. Uses vectors from the start, since reloading separately stored lanes as vectors is slow.
inline double sum_of_lanes(const double (&lanes)[kLanes]) {
  typedef double Four __attribute__((vector_size(4 * sizeof(double))));
  Four fours[4];
  __builtin_memcpy(fours, lanes, sizeof fours);
  const Four sums = (fours[0] + fours[2]) + (fours[1] + fours[3]);
  return (sums[0] + sums[2]) + (sums[1] + sums[3]);
}

// Returns the sum of value_at(i), which returns double.
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
