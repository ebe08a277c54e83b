// Random numbers: Philox (operators/philox.hpp), many blocks at a time.
// Built once for each instruction set, with DISTRUN_KERNEL_SET as its name; see loops.hpp.
#include <distrun/runtime/tensor/kernels/loops.hpp>

namespace distrun::tensor::kernels {
namespace {

constexpr std::int64_t kTogether = 16;

// The words of several blocks, grouped by word index.
struct Words {
  std::uint32_t of[4][kTogether];
};

void make_words(std::uint64_t key, std::uint64_t first, Words& words) {
  for (std::int64_t i = 0; i < kTogether; ++i) {
    const std::uint64_t counter = first + static_cast<std::uint64_t>(i);
    words.of[0][i] = static_cast<std::uint32_t>(counter);
    words.of[1][i] = static_cast<std::uint32_t>(counter >> 32);
    words.of[2][i] = words.of[3][i] = 0;
  }
  auto key_low = static_cast<std::uint32_t>(key), key_high = static_cast<std::uint32_t>(key >> 32);
  for (int round = 0; round < 10; ++round) {
    for (std::int64_t i = 0; i < kTogether; ++i) {
      const std::uint64_t a = std::uint64_t{0xD2511F53} * words.of[0][i],
                          b = std::uint64_t{0xCD9E8D57} * words.of[2][i];
      words.of[0][i] = static_cast<std::uint32_t>(b >> 32) ^ words.of[1][i] ^ key_low;
      words.of[1][i] = static_cast<std::uint32_t>(b);
      words.of[2][i] = static_cast<std::uint32_t>(a >> 32) ^ words.of[3][i] ^ key_high;
      words.of[3][i] = static_cast<std::uint32_t>(a);
    }
    key_low += 0x9E3779B9;
    key_high += 0xBB67AE85;
  }
}

float unit(std::uint32_t word) { return static_cast<float>(static_cast<std::int32_t>(word >> 8)) * 0x1p-24F; }
double unit(std::uint32_t low, std::uint32_t high) {
  return static_cast<double>(static_cast<std::int64_t>((std::uint64_t{high} << 32 | low) >> 11)) * 0x1p-53;
}

// Box-Muller transform: two uniform numbers give two normal ones.
struct Pair {
  float first, second;
};
Pair normal_pair(std::uint32_t a, std::uint32_t b) {
  const float radius = __builtin_sqrtf(-2 * logarithm(1 - unit(a)));
  const float angle = 0x1.921fb6p2F * unit(b);
  return {radius * sine_of_turned(angle, 1), radius * sine_of_turned(angle, 0)};
}

// Each function converts the words of kTogether blocks.
void uniform_f32(const Words& words, float* out) {
  for (std::int64_t i = 0; i < kTogether; ++i) {
    for (std::int64_t word = 0; word < 4; ++word) out[4 * i + word] = unit(words.of[word][i]);
  }
}
void words_u64(const Words& words, std::uint64_t* out) {
  for (std::int64_t i = 0; i < kTogether; ++i) {
    out[2 * i] = std::uint64_t{words.of[1][i]} << 32 | words.of[0][i];
    out[2 * i + 1] = std::uint64_t{words.of[3][i]} << 32 | words.of[2][i];
  }
}
void uniform_f64(const Words& words, double* out) {
  for (std::int64_t i = 0; i < kTogether; ++i) {
    out[2 * i] = unit(words.of[0][i], words.of[1][i]);
    out[2 * i + 1] = unit(words.of[2][i], words.of[3][i]);
  }
}
void normal_f32(const Words& words, float* out) {
  float numbers[4][kTogether];
  for (std::int64_t word = 0; word < 4; word += 2) {
    for (std::int64_t i = 0; i < kTogether; ++i) {
      const Pair pair = normal_pair(words.of[word][i], words.of[word + 1][i]);
      numbers[word][i] = pair.first;
      numbers[word + 1][i] = pair.second;
    }
  }
  for (std::int64_t i = 0; i < kTogether; ++i) {
    for (std::int64_t word = 0; word < 4; ++word) out[4 * i + word] = numbers[word][i];
  }
}

template <class T, void (*kMake)(const Words&, T*)>
void random_run(std::uint64_t key, std::uint64_t first, T* out, std::int64_t count) {
  constexpr std::int64_t kNumbers = kTogether * 16 / static_cast<std::int64_t>(sizeof(T));
  Words words;
  for (; count >= kNumbers; count -= kNumbers, out += kNumbers, first += kTogether) {
    make_words(key, first, words);
    kMake(words, out);
  }
  if (count == 0) return;
  T last[kNumbers];
  make_words(key, first, words);
  kMake(words, last);
  for (std::int64_t i = 0; i < count; ++i) out[i] = last[i];
}

}  // namespace

extern const RandomKernels DISTRUN_NAMED(random_kernels_, DISTRUN_KERNEL_SET);
constexpr RandomKernels DISTRUN_NAMED(random_kernels_, DISTRUN_KERNEL_SET) = {
    &random_run<std::uint64_t, words_u64>,
    &random_run<float, uniform_f32>,
    &random_run<double, uniform_f64>,
    &random_run<float, normal_f32>,
};

}  // namespace distrun::tensor::kernels
