#include <distrun/runtime/tensor/operators/random_choices.hpp>

#include <algorithm>
#include <array>
#include <numeric>
#include <span>
#include <utility>

#include <distrun/runtime/tensor/core/copy.hpp>
#include <distrun/runtime/tensor/core/empty.hpp>
#include <distrun/runtime/tensor/core/launch.hpp>
#include <distrun/runtime/tensor/core/shape.hpp>
#include <distrun/runtime/tensor/core/watch.hpp>
#include <distrun/runtime/tensor/kernels/instruction_set.hpp>
#include <distrun/runtime/tensor/operators/elementwise.hpp>
#include <distrun/runtime/tensor/operators/philox.hpp>
#include <distrun/runtime/tensor/operators/reduce.hpp>

namespace distrun::tensor::plain {
namespace {

constexpr std::uint64_t kFewChoices = std::uint64_t{1} << 32;

// The kernel computes many blocks at a time; a few are faster one by one.
void make_words(const Generator::Range& range, std::span<std::uint64_t> words) {
  constexpr std::size_t kFew = 12;
  if (words.size() > kFew) {
    return kernels::table().random->words(range.seed, range.first, words.data(),
                                          static_cast<std::int64_t>(words.size()));
  }
  for (std::size_t i = 0; i < words.size(); i += 2) {
    const auto block = philox(range.seed, range.first + i / 2, 0);
    words[i] = std::uint64_t{block[1]} << 32 | block[0];
    if (i + 1 < words.size()) words[i + 1] = std::uint64_t{block[3]} << 32 | block[2];
  }
}

// Calls body(first, words) for parts of `count` random 64-bit words; a block has two.
template <class Body>
void for_words(const Generator::Range& range, std::int64_t count, const Body& body) {
  constexpr std::int64_t kPart = 256;
  std::array<std::uint64_t, kPart> words;
  for (std::int64_t first = 0; first < count; first += kPart) {
    const std::span part(words.data(), static_cast<std::size_t>(std::min(kPart, count - first)));
    make_words({range.seed, range.first + static_cast<std::uint64_t>(first / 2)}, part);
    body(first, part);
  }
}

Generator::Range words_for(std::int64_t count, Generator& generator) {
  return generator.take(static_cast<std::uint64_t>(count / 2 + 1));
}

// Draws from few choices: one per uniform number, in parts that stay in the cache. The numbers are far finer than
// the choices that the bias is negligible.
template <class T>
void choose_from_few(const Generator::Range& range, std::int64_t low, std::uint64_t choices, T* out,
                     std::int64_t count) {
  constexpr std::int64_t kPart = 512;
  std::array<double, kPart> uniform;
  for (std::int64_t first = 0; first < count; first += kPart) {
    const std::int64_t size = std::min(kPart, count - first);
    kernels::table().random->uniform_f64(range.seed, range.first + static_cast<std::uint64_t>(first / 2),
                                         uniform.data(), size);
    for (std::int64_t i = 0; i < size; ++i) {
      const auto chosen =
          static_cast<std::int64_t>(uniform[static_cast<std::size_t>(i)] * static_cast<double>(choices));
      out[first + i] = static_cast<T>(low + chosen);
    }
  }
}

// Maps a random word to 0 .. choices - 1.
std::uint64_t below(std::uint64_t choices, std::uint64_t word) {
  return static_cast<std::uint64_t>(static_cast<unsigned __int128>(word) * choices >> 64);
}

// Fisher-Yates shuffle: each position gets one of the remaining numbers. Their positions are known in advance, so they
// are prefetched.
void shuffle(const Generator::Range& range, std::int64_t* numbers, std::int64_t count) {
  for_words(range, count, [numbers, count](std::int64_t first, std::span<std::uint64_t> words) {
    for (std::int64_t i = first; std::uint64_t & word : words) {
      word = static_cast<std::uint64_t>(i) + below(static_cast<std::uint64_t>(count - i), word);
      __builtin_prefetch(numbers + word, 1);
      ++i;
    }
    for (std::int64_t i = first; const std::uint64_t place : words) std::swap(numbers[i++], numbers[place]);
  });
}

// A floating dtype does not represent larger integers exactly: results would be rounded, even up to `high`.
void check_has_each(std::int64_t least, std::int64_t most, DType dtype) {
  if (!is_floating(dtype)) return;
  const std::int64_t limit = std::int64_t{1} << (dtype == DType::F32 ? 24 : 53);
  for (const std::int64_t bound : {least, most}) {
    if (bound >= -limit && bound <= limit) continue;
    refuse("randint",
           std::to_string(bound) + " is outside the range in which " + std::string(name_of(dtype)) +
               " represents every integer, " + std::to_string(-limit) + " to " + std::to_string(limit) + "; use int64",
           {});
  }
}

}  // namespace

Tensor randint(std::int64_t low, std::int64_t high, const Dims& sizes, TensorOptions options, Generator& generator) {
  const MakerScope scope("randint");
  if (low >= high) {
    refuse("randint", "the range from " + std::to_string(low) + " to " + std::to_string(high) + " (excluded) is empty",
           {});
  }
  check_fits("randint", low, options.dtype);
  check_fits("randint", high - 1, options.dtype);
  check_has_each(low, high - 1, options.dtype);
  const Tensor out = empty(sizes, options);
  if (out.numel() == 0) return out;
  const std::uint64_t choices = static_cast<std::uint64_t>(high) - static_cast<std::uint64_t>(low);
  const Generator::Range range = words_for(out.numel(), generator);
  visit(options.dtype, [&](auto zero) {
    using T = decltype(zero);
    launch("randint", std::array{writes(out)}, [range, low, choices, count = out.numel()](Addresses data) {
      T* const to = reinterpret_cast<T*>(data[0]);
      if (choices <= kFewChoices) return choose_from_few(range, low, choices, to, count);
      for_words(range, count, [&](std::int64_t i, std::span<const std::uint64_t> words) {
        for (const std::uint64_t word : words) {
          to[i++] = static_cast<T>(static_cast<std::int64_t>(static_cast<std::uint64_t>(low) + below(choices, word)));
        }
      });
    });
  });
  return out;
}

Tensor randint(std::int64_t high, const Dims& sizes, TensorOptions options, Generator& generator) {
  return randint(0, high, sizes, options, generator);
}

Tensor randperm(std::int64_t count, Device device, Generator& generator) {
  const MakerScope scope("randperm");
  if (count < 0) refuse("randperm", "the count must not be negative, but it is " + std::to_string(count), {});
  const Tensor out = empty({count}, {DType::I64, device});
  if (count == 0) return out;
  launch("randperm", std::array{writes(out)}, [range = words_for(count, generator), count](Addresses data) {
    auto* const to = reinterpret_cast<std::int64_t*>(data[0]);
    std::iota(to, to + count, 0);
    shuffle(range, to, count);
  });
  return out;
}

Tensor bernoulli(const Tensor& probabilities, Generator& generator) {
  constexpr const char* kName = "bernoulli";
  const MakerScope scope(kName);
  check_defined(kName, {&probabilities});
  check_dense(kName, {&probabilities});
  check_floating(kName, probabilities);
  const Tensor are_some = mul(ge(probabilities, 0), le(probabilities, 1));
  if (!all(are_some).item<bool>()) refuse(kName, "probabilities must be in the range 0 to 1", {&probabilities});
  return to(lt(rand(probabilities.sizes(), probabilities.options(), generator), probabilities), probabilities.dtype());
}

}  // namespace distrun::tensor::plain
