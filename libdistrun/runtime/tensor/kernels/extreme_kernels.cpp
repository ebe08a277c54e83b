// The largest and the smallest of lines, and where they stand; bounds of numbers.
// Built once for each instruction set, with DISTRUN_KERNEL_SET as its name; see loops.hpp.
#include <distrun/runtime/tensor/kernels/lines.hpp>
#include <distrun/runtime/tensor/kernels/loops.hpp>

namespace distrun::tensor::kernels {
namespace {

constexpr std::int64_t kColumns = 256;  // that are on their way at a time

// What is no number wins, and the first of them. Without branches, of which there are no vectors.
// 0 or 1: these are worked out without jumps, so that the compiler makes vectors.
template <class T>
int is_number(T value) {
  return value == value;
}
struct Largest {
  template <class T>
  static bool is_better(T value, T than) {
    return (value > than) | (is_number(than) & ~is_number(value));
  }
};
struct Smallest {
  template <class T>
  static bool is_better(T value, T than) {
    return (value < than) | (is_number(than) & ~is_number(value));
  }
};
template <class T>
bool is_same(T a, T b) {
  return (a == b) | ((is_number(a) | is_number(b)) ^ 1);
}

template <class Order, class T>
T better(T value, T than) {
  return Order::is_better(value, than) ? value : than;
}

// In lanes side by side.
template <class Order, class T>
T best_of(const T* data, std::int64_t count) {
  constexpr std::int64_t kWide = 256 / static_cast<std::int64_t>(sizeof(T));
  T best = data[0];
  std::int64_t i = 0;
  if (count >= kWide) {
    T lanes[kWide];
    for (std::int64_t lane = 0; lane < kWide; ++lane) lanes[lane] = data[lane];
    for (i = kWide; i + kWide <= count; i += kWide) {
      for (std::int64_t lane = 0; lane < kWide; ++lane) lanes[lane] = better<Order>(data[i + lane], lanes[lane]);
    }
    best = lanes[0];
    for (std::int64_t lane = 1; lane < kWide; ++lane) best = better<Order>(lanes[lane], best);
  }
  for (; i < count; ++i) best = better<Order>(data[i], best);
  return best;
}

// `value` is there.
template <class T>
std::int64_t first_place_of(T value, const T* data, std::int64_t count) {
  constexpr std::int64_t kPart = 64;
  std::int64_t i = 0;
  for (; i + kPart <= count; i += kPart) {
    int found = 0;
    for (std::int64_t k = 0; k < kPart; ++k) found |= static_cast<int>(is_same(data[i + k], value));
    if (found != 0) break;
  }
  while (!is_same(data[i], value)) ++i;
  return i;
}

template <class Order, class T>
void best_of_rows(const T* in, T* values, std::int64_t* places, const Lines& lines) {
  for (std::int64_t row = 0; row < lines.outer; ++row, in += lines.size) {
    const T best = best_of<Order>(in, lines.size);
    if (values != nullptr) values[row] = best;
    if (places != nullptr) places[row] = first_place_of(best, in, lines.size);
  }
}

// Of columns side by side, which lie in `stride` elements.
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
  } else {
    best_of_lines<Order>(from, to, places, lines);
  }
}

bool are_in_range(const std::int64_t* numbers, std::int64_t count, std::int64_t size) {
  std::uint64_t outside = 0;  // its sign is set if one was below 0, or not below the size
  for (std::int64_t i = 0; i < count; ++i) {
    const auto number = static_cast<std::uint64_t>(numbers[i]);
    outside |= number | (static_cast<std::uint64_t>(size) - 1 - number);
  }
  return static_cast<std::int64_t>(outside) >= 0;
}

// Truth values are compared as numbers.
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
