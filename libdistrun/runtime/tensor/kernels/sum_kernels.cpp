// Sums.
// Built once for each instruction set, with DISTRUN_KERNEL_SET as its name; see loops.hpp.
#include <distrun/runtime/tensor/kernels/loops.hpp>
#if defined(__FMA__)
#include <immintrin.h>  // its functions are always inlined: none is left over
#endif

namespace distrun::tensor::kernels {
namespace {

template <class T>
using Sum = std::conditional_t<is_float<T>, double, std::uint64_t>;

// Lanes that are summed side by side, as vectors of four, and how many elements go into them before they are put
// together: the error grows with the number of blocks, not of elements.
constexpr std::int64_t kFour = 4;
constexpr std::int64_t kFours = 8;
constexpr std::int64_t kLanes = kFour * kFours;
constexpr std::int64_t kBlock = 8192;

template <class Element, class Sum>
struct Vectors {
  typedef Element Elements __attribute__((vector_size(kFour * sizeof(Element))));
  typedef Sum Sums __attribute__((vector_size(kFour * sizeof(Sum))));
};
template <class T>
using Four = Vectors<std::conditional_t<std::is_same_v<T, bool>, std::uint8_t, T>, Sum<T>>;
template <class T>
using Sums = typename Four<T>::Sums;

// sums[lane] += data[lane], of four.
template <class T>
void add_four(Sums<T>& sums, const T* data) {
#if defined(__FMA__)
  if constexpr (std::is_same_v<T, float>) {
    // What is multiplied by 1 is added as it is. It is the multipliers that have nothing else to do: those that add
    // also convert, and would take half as long again.
    const __m256d elements = _mm256_cvtps_pd(_mm_loadu_ps(data));
    sums = _mm256_fmadd_pd(elements, _mm256_set1_pd(1), sums);
    return;
  }
#endif
  typename Four<T>::Elements elements;
  __builtin_memcpy(&elements, data, sizeof elements);
  sums += __builtin_convertvector(elements, Sums<T>);
}

template <class T>
Sum<T> folded(const Sums<T>& sums) {
  return (sums[0] + sums[2]) + (sums[1] + sums[3]);
}

// Of fewer than there are lanes.
template <class T>
Sum<T> sum_of_few(const T* data, std::int64_t count) {
  Sums<T> sums = {};
  std::int64_t i = 0;
  for (; i + kFour <= count; i += kFour) add_four<T>(sums, data + i);
  Sum<T> sum = folded<T>(sums);
  for (; i < count; ++i) sum += static_cast<Sum<T>>(data[i]);
  return sum;
}

// Of as many as there are lanes, or more.
template <class T>
Sum<T> sum_of_block(const T* data, std::int64_t count) {
  Sums<T> sums[kFours] = {};
  std::int64_t i = 0;
  do {
    for (std::int64_t four = 0; four < kFours; ++four) add_four<T>(sums[four], data + i + four * kFour);
    i += kLanes;
  } while (i + kLanes <= count);
  for (std::int64_t half = kFours / 2; half > 0; half /= 2) {
    for (std::int64_t four = 0; four < half; ++four) sums[four] += sums[four + half];
  }
  const Sum<T> sum = folded<T>(sums[0]);
  return i < count ? sum + sum_of_few(data + i, count - i) : sum;
}

template <class T>
Sum<T> sum_of_line(const T* data, std::int64_t count) {
  Sum<T> sum = 0;
  for (; count > kBlock; data += kBlock, count -= kBlock) sum += sum_of_block(data, kBlock);
  return sum + (count < kLanes ? sum_of_few(data, count) : sum_of_block(data, count));
}

template <class T>
const T* line_of(const SumBlock& block, std::int64_t line) {
  return reinterpret_cast<const T*>(block.data + line * block.line_stride);
}

template <class T>
void along_lines_run(const SumBlock& block, void* totals) {
  Sum<T>* sums = static_cast<Sum<T>*>(totals);
  if (is_packed<T>(block.stride)) {
    for (std::int64_t line = 0; line < block.lines; ++line)
      sums[line] += sum_of_line(line_of<T>(block, line), block.count);
    return;
  }
  for (std::int64_t line = 0; line < block.lines; ++line) {
    const std::byte* data = block.data + line * block.line_stride;
    Sum<T> sum = 0;
    for (std::int64_t i = 0; i < block.count; ++i) {
      sum += static_cast<Sum<T>>(*reinterpret_cast<const T*>(data + i * block.stride));
    }
    sums[line] += sum;
  }
}

// So many lines of a block at a time: each sum is loaded and stored once for all.
template <std::int64_t kTogether, class T>
void add_lines(const SumBlock& block, std::int64_t first, Sum<T>* totals) {
  const T* lines[kTogether];
  for (std::int64_t line = 0; line < kTogether; ++line) lines[line] = line_of<T>(block, first + line);
  std::int64_t i = 0;
  for (; i + kFour <= block.count; i += kFour) {
    Sums<T> sums;
    __builtin_memcpy(&sums, totals + i, sizeof sums);
    for (std::int64_t line = 0; line < kTogether; ++line) add_four<T>(sums, lines[line] + i);
    __builtin_memcpy(totals + i, &sums, sizeof sums);
  }
  for (; i < block.count; ++i) {
    for (std::int64_t line = 0; line < kTogether; ++line) totals[i] += static_cast<Sum<T>>(lines[line][i]);
  }
}

// Halves of what is together are for the lines that are left.
template <std::int64_t kTogether, class T>
void add_lines_from(const SumBlock& block, std::int64_t first, Sum<T>* totals) {
  for (; first + kTogether <= block.lines; first += kTogether) add_lines<kTogether, T>(block, first, totals);
  if constexpr (kTogether > 1) add_lines_from<kTogether / 2, T>(block, first, totals);
}
template <class T>
void add_packed_lines(const SumBlock& block, Sum<T>* totals) {
  add_lines_from<8, T>(block, 0, totals);
}

// Short lines that follow each other, which may be taken as long ones of several.
template <class T>
bool are_short(const SumBlock& block) {
  return block.count < 64 && block.lines > 256 && block.line_stride == block.count * block.stride;
}

// The sums of each of the several are put together in the end.
template <class T>
void add_short_lines(const SumBlock& block, Sum<T>* totals) {
  constexpr std::int64_t kMost = 256;
  const std::int64_t several = kMost / block.count, left = block.lines % several;
  Sum<T> sums[kMost] = {};
  SumBlock longer = block;
  longer.count = block.count * several;
  longer.lines = block.lines / several;
  longer.line_stride = block.line_stride * several;
  add_packed_lines<T>(longer, sums);
  for (std::int64_t line = 0; line < several; ++line) {
    for (std::int64_t i = 0; i < block.count; ++i) totals[i] += sums[line * block.count + i];
  }
  SumBlock rest = block;
  rest.data += (block.lines - left) * block.line_stride;
  rest.lines = left;
  add_packed_lines<T>(rest, totals);
}

template <class T>
void across_lines_run(const SumBlock& block, void* totals) {
  Sum<T>* sums = static_cast<Sum<T>*>(totals);
  if (is_packed<T>(block.stride)) {
    return are_short<T>(block) ? add_short_lines<T>(block, sums) : add_packed_lines<T>(block, sums);
  }
  for (std::int64_t line = 0; line < block.lines; ++line) {
    const std::byte* data = block.data + line * block.line_stride;
    for (std::int64_t i = 0; i < block.count; ++i) {
      sums[i] += static_cast<Sum<T>>(*reinterpret_cast<const T*>(data + i * block.stride));
    }
  }
}

// Of what is rounded to T, as if it had been stored.
template <class T>
void square_differences_run(const void* a, const void* b, std::int64_t count, double* total) {
  constexpr std::int64_t kPart = 1024;
  const T *left = static_cast<const T*>(a), *right = static_cast<const T*>(b);
  for (std::int64_t start = 0; start < count; start += kPart) {
    const std::int64_t size = count - start < kPart ? count - start : kPart;
    T part[kPart];
    for (std::int64_t i = 0; i < size; ++i) {
      const T difference = left[start + i] - right[start + i];
      part[i] = difference * difference;
    }
    *total += sum_of_line(part, size);
  }
}

#define DISTRUN_ALONG_LINES(T) &along_lines_run<T>
#define DISTRUN_ACROSS_LINES(T) &across_lines_run<T>

}  // namespace

extern const SumKernels DISTRUN_NAMED(sum_kernels_, DISTRUN_KERNEL_SET);
constexpr SumKernels DISTRUN_NAMED(sum_kernels_, DISTRUN_KERNEL_SET) = {
    DISTRUN_FOR_DTYPES(DISTRUN_ALONG_LINES),
    DISTRUN_FOR_DTYPES(DISTRUN_ACROSS_LINES),
    {&square_differences_run<float>, &square_differences_run<double>},
};

}  // namespace distrun::tensor::kernels
