#pragma once
// Finds the largest or smallest number of a line for the files *_kernels.cpp: in vectors side by side, then lane by
// lane. Whether 0 or -0 is returned depends on the number of elements only. See loops.hpp.
#include <cstdint>

namespace distrun::tensor::kernels {
namespace {

#if defined(__AVX__)
constexpr std::int64_t kVectorBytes = 32;
#else
constexpr std::int64_t kVectorBytes = 16;
#endif
template <class T, std::int64_t kBytes = kVectorBytes>
struct VectorOf {
  typedef T Type __attribute__((vector_size(kBytes)));
};
template <class T, std::int64_t kBytes>
struct HalvesOf {
  typename VectorOf<T, kBytes / 2>::Type low, high;
};
template <class T>
constexpr std::int64_t kEach = kVectorBytes / static_cast<std::int64_t>(sizeof(T));  // elements of a vector

template <class T>
typename VectorOf<T>::Type vector_at(const T* data) {
  typename VectorOf<T>::Type vector;
  __builtin_memcpy(&vector, data, sizeof vector);
  return vector;
}

// Returns the larger of two numbers, or element by element of two vectors; the first if they are equal.
struct Larger {
  template <class T>
  static T of(T a, T b) {
    return a < b ? b : a;
  }
};
struct Smaller {
  template <class T>
  static T of(T a, T b) {
    return b < a ? b : a;
  }
};

template <class Order, class T, std::int64_t kBytes>
T best_of_lanes(const typename VectorOf<T, kBytes>::Type& vector) {
  if constexpr (kBytes > 16) {
    const auto halves = __builtin_bit_cast(HalvesOf<T, kBytes>, vector);
    return best_of_lanes<Order, T, kBytes / 2>(Order::of(halves.low, halves.high));
  } else {
    constexpr std::int64_t kLanes = kBytes / static_cast<std::int64_t>(sizeof(T));
    T lanes[kLanes];
    __builtin_memcpy(lanes, &vector, sizeof lanes);
    for (std::int64_t half = kLanes / 2; half > 0; half /= 2) {
      for (std::int64_t lane = 0; lane < half; ++lane) lanes[lane] = Order::of(lanes[lane], lanes[lane + half]);
    }
    return lanes[0];
  }
}

// Notes nothing about the numbers.
struct NoNotes {
  template <class Vector>
  void look_at(const Vector&) {}
};

// Requires at least kBytes of contiguous numbers. Calls notes.look_at(vector) for all of them; the last ones may be
// passed twice.
template <class Order, std::int64_t kBytes, class T, class Notes>
T best_side_by_side(const T* data, std::int64_t count, Notes& notes) {
  constexpr std::int64_t kVectors = kBytes / kVectorBytes, kWide = kVectors * kEach<T>;
  Notes taken = notes;  // a local copy, or the compiler would keep it in memory
  typename VectorOf<T>::Type best[kVectors];
  for (std::int64_t k = 0; k < kVectors; ++k) {
    best[k] = vector_at(data + k * kEach<T>);
    taken.look_at(best[k]);
  }
  const auto go_on = [&](const T* from) {
    for (std::int64_t k = 0; k < kVectors; ++k) {
      const auto vector = vector_at(from + k * kEach<T>);
      best[k] = Order::of(best[k], vector);
      taken.look_at(vector);
    }
  };
  std::int64_t i = kWide;
  for (; i + kWide <= count; i += kWide) go_on(data + i);
  if (i < count) go_on(data + count - kWide);
  for (std::int64_t half = kVectors / 2; half > 0; half /= 2) {
    for (std::int64_t k = 0; k < half; ++k) best[k] = Order::of(best[k], best[k + half]);
  }
  notes = taken;
  return best_of_lanes<Order, T, kVectorBytes>(best[0]);
}

// The minimum count for best_of_many(), which otherwise is like best_side_by_side().
template <class T>
constexpr std::int64_t kMany = 32 / static_cast<std::int64_t>(sizeof(T));
template <class Order, class T, class Notes>
T best_of_many(const T* data, std::int64_t count, Notes& notes) {
  return count < 4 * kMany<T> ? best_side_by_side<Order, 32>(data, count, notes)
                              : best_side_by_side<Order, 128>(data, count, notes);
}

// Requires at least one number. NaN may be ignored.
template <class Order, class T>
T best_of(const T* data, std::int64_t count) {
  if (count >= kMany<T>) {
    NoNotes none;
    return best_of_many<Order>(data, count, none);
  }
  T best = data[0];
  for (std::int64_t i = 1; i < count; ++i) best = Order::of(best, data[i]);
  return best;
}

}  // namespace
}  // namespace distrun::tensor::kernels
