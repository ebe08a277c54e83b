// Largest and smallest elements of lines and their indices; range checks.
// Built once for each instruction set, with DISTRUN_KERNEL_SET as its name; see loops.hpp.
#include <distrun/runtime/tensor/kernels/line_extremes.hpp>
#include <distrun/runtime/tensor/kernels/lines.hpp>
#include <distrun/runtime/tensor/kernels/loops.hpp>

namespace distrun::tensor::kernels {
namespace {

constexpr std::int64_t kColumns = 256;  // columns in progress at a time

// NaN wins, and the first one of several. Results are 0 or 1, computed without branches so that the compiler
// vectorizes.
template <class T>
int is_number(T value) {
  return value == value;
}
struct Largest {
  using OfNumbers = Larger;
  template <class T>
  static bool is_better(T value, T than) {
    return (value > than) | (is_number(than) & ~is_number(value));
  }
};
struct Smallest {
  using OfNumbers = Smaller;
  template <class T>
  static bool is_better(T value, T than) {
    return (value < than) | (is_number(than) & ~is_number(value));
  }
};
template <class Order, class T>
T better(T value, T than) {
  return Order::is_better(value, than) ? value : than;
}

// Indices up to kMost, in vectors with as many lanes as elements; in types for which all machines have a vector
// minimum.
constexpr std::int64_t kMost = 64;
template <class T>
using Place = std::conditional_t<
    sizeof(T) == 8, double,
    std::conditional_t<sizeof(T) == 4, float, std::conditional_t<sizeof(T) == 2, std::int16_t, std::int8_t>>>;
template <class T>
using Places = typename VectorOf<Place<T>>::Type;

// Takes one vector's elements to kMost; returns kMost if no element matches.
template <class T, class IsIt>
std::int64_t first_of_some(const T* data, std::int64_t count, const IsIt& is_it) {
  Places<T> lanes;
  for (std::int64_t lane = 0; lane < kEach<T>; ++lane) lanes[lane] = static_cast<Place<T>>(lane);
  const Places<T> none = Places<T>{} + static_cast<Place<T>>(kMost);
  Places<T> first = none;
  const auto look_at = [&](std::int64_t start) {
    const Places<T> places = lanes + static_cast<Place<T>>(start);
    first = Smaller::of(first, is_it(vector_at(data + start)) ? places : none);
  };
  std::int64_t i = 0;
  for (; i + kEach<T> <= count; i += kEach<T>) look_at(i);
  if (i < count) look_at(count - kEach<T>);
  return static_cast<std::int64_t>(best_of_lanes<Smaller, Place<T>, kVectorBytes>(first));
}
// At least one element must match.
template <class T, class IsIt>
std::int64_t first_of(const T* data, std::int64_t count, const IsIt& is_it) {
  std::int64_t i = 0;
  for (; i + kMost < count; i += kMost) {
    const std::int64_t place = first_of_some(data + i, kMost, is_it);
    if (place < kMost) return i + place;
  }
  if (count >= kMost) return count - kMost + first_of_some(data + count - kMost, kMost, is_it);
  if (count >= kEach<T>) return first_of_some(data, count, is_it);
  while (!is_it(data[i])) ++i;
  return i;
}

template <class T>
struct Best {
  T value;
  std::int64_t place;
};

// Rows shorter than this are searched one by one: 64-bit integers always, if the machine cannot compare vectors of
// them.
template <class T>
constexpr std::int64_t kFew = is_float<T>                           ? kMany<T>
                              : sizeof(T) == 8 && kVectorBytes < 32 ? INT64_MAX
                              : kMany<T> < 16                       ? 16
                                                                    : kMany<T>;
template <class Order, class T>
Best<T> best_of_few(const T* row, std::int64_t size) {
  Best<T> best = {row[0], 0};
  for (std::int64_t i = 0; i < size; ++i) {
    if (is_number(row[i]) == 0) return {row[i], i};
    const T value = Order::OfNumbers::of(best.value, row[i]);
    best.place = value == best.value ? best.place : i;
    best.value = value;
  }
  return best;
}
// Notes whether an element is NaN: its bits without the sign exceed those of infinity. A subtraction is faster than a
// comparison.
template <class T>
struct Others {
  using Bits = std::conditional_t<sizeof(T) == 8, std::int64_t, std::int32_t>;
  using Vector = typename VectorOf<Bits>::Type;
  Vector found = {};  // negative if one was found

  void look_at(const typename VectorOf<T>::Type& vector) {
    if constexpr (is_float<T>) {
      constexpr Bits kInfinity = __builtin_bit_cast(Bits, static_cast<T>(__builtin_inf()));
      constexpr Bits kSize = sizeof(T) == 8 ? INT64_MAX : INT32_MAX;
      found |= kInfinity - (__builtin_bit_cast(Vector, vector) & kSize);
    }
  }
  bool are_any() const { return is_float<T> && best_of_lanes<Smaller, Bits, kVectorBytes>(found) < 0; }
};
template <class Order, class T>
Best<T> best_of_row(const T* row, std::int64_t size, bool is_placed) {
  if (size < kFew<T>) return best_of_few<Order>(row, size);
  Others<T> others;
  const T best = best_of_many<typename Order::OfNumbers>(row, size, others);
  if (others.are_any()) {
    const std::int64_t place = first_of(row, size, [](const auto& value) { return value != value; });
    return {row[place], place};
  }
  return {best, is_placed ? first_of(row, size, [best](const auto& value) { return value == best; }) : 0};
}

template <class Order, class T>
void best_of_rows(const T* in, T* values, std::int64_t* places, const Lines& lines) {
  for (std::int64_t row = 0; row < lines.outer; ++row, in += lines.size) {
    const Best<T> best = best_of_row<Order>(in, lines.size, places != nullptr);
    if (values != nullptr) values[row] = best.value;
    if (places != nullptr) places[row] = best.place;
  }
}

// Searches columns side by side, within rows of `stride` elements.
template <class Order, class T>
void best_of_columns(const T* in, T* best, std::int64_t columns, std::int64_t size, std::int64_t stride) {
  for (std::int64_t j = 0; j < columns; ++j) best[j] = in[j];
  for (std::int64_t i = 1; i < size; ++i) {
    const T* const row = in + i * stride;
    DISTRUN_INDEPENDENT
    for (std::int64_t j = 0; j < columns; ++j) best[j] = better<Order>(row[j], best[j]);
  }
}

template <class Order, class T>
void place_best_of_columns(const T* in, T* best, std::int64_t* places, std::int64_t columns, std::int64_t size,
                           std::int64_t stride) {
  for (std::int64_t j = 0; j < columns; ++j) {
    best[j] = in[j];
    places[j] = 0;
  }
  for (std::int64_t i = 1; i < size; ++i) {
    const T* const row = in + i * stride;
    DISTRUN_INDEPENDENT
    for (std::int64_t j = 0; j < columns; ++j) {
      const bool is_better = Order::is_better(row[j], best[j]);
      best[j] = is_better ? row[j] : best[j];
      places[j] = is_better ? i : places[j];
    }
  }
}

// Few columns: several rows are treated as one, and their results are combined at the end.
constexpr bool are_few_columns(std::int64_t columns, std::int64_t size) {
  constexpr std::int64_t kFewColumns = 16, kRows = 4;
  return columns <= kFewColumns && size >= kRows * (kColumns / columns);
}
template <class Order, class T>
void best_of_few_columns(const T* in, T* values, std::int64_t* places, std::int64_t columns, std::int64_t size) {
  const std::int64_t several = kColumns / columns, rows = size / several, wide = several * columns;
  T best_each[kColumns];
  std::int64_t place_each[kColumns];
  place_best_of_columns<Order>(in, best_each, place_each, wide, rows, wide);
  for (std::int64_t j = 0; j < columns; ++j) {
    Best<T> best = {best_each[j], place_each[j] * several};
    for (std::int64_t i = 1; i < several; ++i) {
      const Best<T> other = {best_each[i * columns + j], place_each[i * columns + j] * several + i};
      const bool is_same = !Order::is_better(best.value, other.value);
      if (Order::is_better(other.value, best.value) || (is_same && other.place < best.place)) best = other;
    }
    for (std::int64_t i = rows * several; i < size; ++i) {
      if (Order::is_better(in[i * columns + j], best.value)) best = {in[i * columns + j], i};
    }
    if (values != nullptr) values[j] = best.value;
    if (places != nullptr) places[j] = best.place;
  }
}

template <class Order, class T>
void best_of_lines(const T* in, T* values, std::int64_t* places, const Lines& lines) {
  for (std::int64_t before = 0; before < lines.outer; ++before, in += lines.size * lines.inner) {
    for (std::int64_t after = 0; after < lines.inner; after += kColumns) {
      const std::int64_t left = lines.inner - after, columns = left < kColumns ? left : kColumns;
      const std::int64_t line = before * lines.inner + after;
      T scratch[kColumns];
      T* const best = values != nullptr ? values + line : scratch;
      if (places == nullptr) {
        best_of_columns<Order>(in + after, best, columns, lines.size, lines.inner);
      } else {
        place_best_of_columns<Order>(in + after, best, places + line, columns, lines.size, lines.inner);
      }
    }
  }
}

template <class Order, class T>
void extremes_run(const void* in, void* values, std::int64_t* places, const Lines& lines) {
  const T* from = static_cast<const T*>(in);
  T* to = static_cast<T*>(values);
  if (lines.inner == 1) {
    best_of_rows<Order>(from, to, places, lines);
  } else if (are_few_columns(lines.inner, lines.size)) {
    for (std::int64_t before = 0; before < lines.outer; ++before) {
      const std::int64_t first = before * lines.inner;
      best_of_few_columns<Order>(from + first * lines.size, to == nullptr ? nullptr : to + first,
                                 places == nullptr ? nullptr : places + first, lines.inner, lines.size);
    }
  } else {
    best_of_lines<Order>(from, to, places, lines);
  }
}

bool are_in_range(const std::int64_t* numbers, std::int64_t count, std::int64_t size) {
  std::uint64_t outside = 0;  // its sign bit is set if a number was negative or not below the size
  for (std::int64_t i = 0; i < count; ++i) {
    const auto number = static_cast<std::uint64_t>(numbers[i]);
    outside |= number | (static_cast<std::uint64_t>(size) - 1 - number);
  }
  return static_cast<std::int64_t>(outside) >= 0;
}

// Bools are compared as numbers.
template <class T>
using Compared = std::conditional_t<std::is_same_v<T, bool>, std::uint8_t, T>;

#define DISTRUN_LARGEST(T) &extremes_run<Largest, Compared<T>>
#define DISTRUN_SMALLEST(T) &extremes_run<Smallest, Compared<T>>

}  // namespace

extern const ExtremeKernels DISTRUN_NAMED(extreme_kernels_, DISTRUN_KERNEL_SET);
constexpr ExtremeKernels DISTRUN_NAMED(extreme_kernels_, DISTRUN_KERNEL_SET) = {
    DISTRUN_FOR_DTYPES(DISTRUN_LARGEST),
    DISTRUN_FOR_DTYPES(DISTRUN_SMALLEST),
    &are_in_range,
};

}  // namespace distrun::tensor::kernels
