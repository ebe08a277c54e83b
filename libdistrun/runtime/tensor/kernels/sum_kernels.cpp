// Sums.
// Built once for each instruction set, with DISTRUN_KERNEL_SET as its name; see loops.hpp.
#include <distrun/runtime/tensor/kernels/loops.hpp>
#if defined(__SSE2__)
#include <immintrin.h>  // always inlined, so no symbols are left over
#endif

namespace distrun::tensor::kernels {
namespace {

template <class T>
using Sum = std::conditional_t<is_float<T>, double, std::uint64_t>;

// Lanes that are summed side by side, and elements per block before lanes are combined: the error grows with the number
// of blocks, not of elements. Fewer elements than lanes are summed in four of them.
constexpr std::int64_t kLanes = 32;
constexpr std::int64_t kFour = 4;
constexpr std::int64_t kBlock = 8192;

// Lanes per vector, as the machine supports.
#if defined(__AVX__)
constexpr std::int64_t kEach = 4;
#else
constexpr std::int64_t kEach = 2;
#endif
constexpr std::int64_t kVectors = kLanes / kEach, kVectorsOfFour = kFour / kEach;

template <class Element, class Sum>
struct Vectors {
  typedef Element Elements __attribute__((vector_size(kEach * sizeof(Element))));
  typedef Sum Sums __attribute__((vector_size(kEach * sizeof(Sum))));
};
template <class T>
using VectorsOf = Vectors<std::conditional_t<std::is_same_v<T, bool>, std::uint8_t, T>, Sum<T>>;
template <class T>
using Sums = typename VectorsOf<T>::Sums;

// Computes sums[lane] += data[lane] for the lanes of a vector.
template <class T>
void add_vector(Sums<T>& sums, const T* data) {
#if defined(__FMA__)
  if constexpr (std::is_same_v<T, float>) {
    // Multiplying by 1 does not change the sum, but uses the idle multipliers: the adders also convert, and would take
    // half as long again.
    const __m256d elements = _mm256_cvtps_pd(_mm_loadu_ps(data));
    sums = _mm256_fmadd_pd(elements, _mm256_set1_pd(1), sums);
    return;
  }
#elif defined(__SSE2__)
  if constexpr (std::is_same_v<T, float>) {
    sums += _mm_cvtps_pd(_mm_castsi128_ps(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(data))));
    return;
  }
#endif
  typename VectorsOf<T>::Elements elements;
  __builtin_memcpy(&elements, data, sizeof elements);
  sums += __builtin_convertvector(elements, Sums<T>);
}
template <std::int64_t kTogether, class T>
void add_vectors(Sums<T> (&sums)[kTogether], const T* data) {
  for (std::int64_t k = 0; k < kTogether; ++k) add_vector<T>(sums[k], data + k * kEach);
}

// Adds halves of the lanes to each other.
template <class T, std::int64_t kTogether>
Sum<T> folded(Sums<T> (&sums)[kTogether]) {
  for (std::int64_t half = kTogether / 2; half > 0; half /= 2) {
    for (std::int64_t k = 0; k < half; ++k) sums[k] += sums[k + half];
  }
  const Sums<T>& last = sums[0];
  if constexpr (kEach == 4) {
    return (last[0] + last[2]) + (last[1] + last[3]);
  } else {
    return last[0] + last[1];
  }
}

// Sums fewer elements than lanes.
template <class T>
Sum<T> sum_of_few(const T* data, std::int64_t count) {
  Sums<T> sums[kVectorsOfFour] = {};
  std::int64_t i = 0;
  for (; i + kFour <= count; i += kFour) add_vectors(sums, data + i);
  Sum<T> sum = folded<T>(sums);
  for (; i < count; ++i) sum += static_cast<Sum<T>>(data[i]);
  return sum;
}

// Sums at least as many elements as lanes.
template <class T>
Sum<T> sum_of_block(const T* data, std::int64_t count) {
  Sums<T> sums[kVectors] = {};
  std::int64_t i = 0;
  do {
    add_vectors(sums, data + i);
    i += kLanes;
  } while (i + kLanes <= count);
  const Sum<T> sum = folded<T>(sums);
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

// Adds the first kTogether vectors of each line to `totals`. Each sum is loaded and stored once for all lines.
template <std::int64_t kTogether, class T>
void add_first_vectors(const SumBlock& block, Sum<T>* totals) {
  // Hardware prefetches long lines, but not pieces of short ones.
  constexpr std::int64_t kCacheLine = 64, kAhead = 16, kShort = 4 * kCacheLine;
  constexpr auto kBytes = static_cast<std::int64_t>(sizeof(T)) * kTogether * kEach;
  const bool is_short = block.line_stride <= kShort;
  Sums<T> sums[kTogether];
  for (std::int64_t k = 0; k < kTogether; ++k) {
    Sums<T> sum;  // separate variables, or the compiler would keep all in memory
    __builtin_memcpy(&sum, totals + k * kEach, sizeof sum);
    sums[k] = sum;
  }
  const std::byte* data = block.data;
  for (std::int64_t line = 0; line < block.lines; ++line, data += block.line_stride) {
    if (is_short) {
      const std::byte* const ahead = data + kAhead * block.line_stride;
      for (std::int64_t byte = 0; byte < kBytes; byte += kCacheLine) __builtin_prefetch(ahead + byte);
    }
    add_vectors(sums, reinterpret_cast<const T*>(data));
  }
  for (std::int64_t k = 0; k < kTogether; ++k) {
    const Sums<T> sum = sums[k];
    __builtin_memcpy(totals + k * kEach, &sum, sizeof sum);
  }
}

// Takes kTogether vectors at a time, then halves of that, then single elements.
template <std::int64_t kTogether, class T>
void add_all_vectors(SumBlock block, Sum<T>* totals) {
  constexpr std::int64_t kWide = kTogether * kEach;
  for (; block.count >= kWide; block.count -= kWide, totals += kWide) {
    add_first_vectors<kTogether, T>(block, totals);
    block.data += kWide * block.stride;
  }
  if constexpr (kTogether > 1) return add_all_vectors<kTogether / 2, T>(block, totals);
  for (std::int64_t i = 0; i < block.count; ++i) {
    Sum<T> sum = totals[i];
    for (std::int64_t line = 0; line < block.lines; ++line) sum += static_cast<Sum<T>>(line_of<T>(block, line)[i]);
    totals[i] = sum;
  }
}

// Takes some lines at a time, in order: as many as memory can stream in parallel, and at least a few kilobytes.
template <class T>
void add_packed_lines(const SumBlock& block, Sum<T>* totals) {
  constexpr std::int64_t kTogether = 8, kBytes = 16384;
  constexpr std::int64_t kVectorsTogether = sizeof(T) == 8 ? 4 : 8;
  const std::int64_t in_bytes = kBytes / (block.count * block.stride);
  const std::int64_t most = in_bytes < kTogether ? kTogether : in_bytes;
  SumBlock some = block;
  for (std::int64_t left = block.lines; left > 0; left -= some.lines) {
    some.lines = left < 2 * most ? left : most;
    add_all_vectors<kVectorsTogether, T>(some, totals);
    some.data += some.lines * block.line_stride;
  }
}

// Adjacent short lines, several of which can be treated as one long line.
template <class T>
bool are_short(const SumBlock& block) {
  return block.count < kShortLine && block.count % kLanes != 0 && block.lines > 256 &&
         block.line_stride == block.count * block.stride;
}

// The sums of the combined lines are added up at the end.
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

// Rounds differences to T, as if they had been stored.
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

void to_float(const double* sums, float* out, std::int64_t count) {
  DISTRUN_INDEPENDENT
  for (std::int64_t i = 0; i < count; ++i) out[i] = static_cast<float>(sums[i]);
}

#define DISTRUN_ALONG_LINES(T) &along_lines_run<T>
#define DISTRUN_ACROSS_LINES(T) &across_lines_run<T>

}  // namespace

extern const SumKernels DISTRUN_NAMED(sum_kernels_, DISTRUN_KERNEL_SET);
constexpr SumKernels DISTRUN_NAMED(sum_kernels_, DISTRUN_KERNEL_SET) = {
    DISTRUN_FOR_DTYPES(DISTRUN_ALONG_LINES),
    DISTRUN_FOR_DTYPES(DISTRUN_ACROSS_LINES),
    &to_float,
    {&square_differences_run<float>, &square_differences_run<double>},
};

}  // namespace distrun::tensor::kernels
