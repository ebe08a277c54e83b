#pragma once
// How the files *_kernels.cpp put a line of elements together: side by side in lanes, then lane by lane. The order
// depends on the number of elements alone. See loops.hpp.
#include <distrun/runtime/tensor/kernels/functions.hpp>

namespace distrun::tensor::kernels {
namespace {

constexpr std::int64_t kLanes = 16;

// The sum of value_at(i), each of them a double.
template <class ValueAt>
double sum_of_values(std::int64_t count, const ValueAt value_at) {
  double lanes[kLanes] = {};
  std::int64_t i = 0;
  for (; i + kLanes <= count; i += kLanes) {
    for (std::int64_t lane = 0; lane < kLanes; ++lane) lanes[lane] += value_at(i + lane);
  }
  double sum = 0;
  for (; i < count; ++i) sum += value_at(i);
  if (count < kLanes) return sum;
  for (std::int64_t half = kLanes / 2; half > 0; half /= 2) {
    for (std::int64_t lane = 0; lane < half; ++lane) lanes[lane] += lanes[lane + half];
  }
  return lanes[0] + sum;
}

template <class T>
T larger(T a, T b) {
  return a < b ? b : a;
}

// Not a number may be left out.
template <class T>
T largest_of(const T* data, std::int64_t count) {
  T largest = data[0];
  std::int64_t i = 0;
  if (count >= kLanes) {
    T lanes[kLanes];
    for (std::int64_t lane = 0; lane < kLanes; ++lane) lanes[lane] = data[lane];
    for (i = kLanes; i + kLanes <= count; i += kLanes) {
      for (std::int64_t lane = 0; lane < kLanes; ++lane) lanes[lane] = larger(lanes[lane], data[i + lane]);
    }
    for (std::int64_t half = kLanes / 2; half > 0; half /= 2) {
      for (std::int64_t lane = 0; lane < half; ++lane) lanes[lane] = larger(lanes[lane], lanes[lane + half]);
    }
    largest = lanes[0];
  }
  for (; i < count; ++i) largest = larger(largest, data[i]);
  return largest;
}

}  // namespace
}  // namespace distrun::tensor::kernels
