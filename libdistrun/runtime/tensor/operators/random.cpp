#include <distrun/runtime/tensor/operators/random.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <string>

#include <distrun/runtime/core/rank_state.hpp>
#include <distrun/runtime/tensor/core/factories.hpp>
#include <distrun/runtime/tensor/core/launch.hpp>
#include <distrun/runtime/tensor/core/shape.hpp>
#include <distrun/runtime/tensor/core/watch.hpp>
#include <distrun/runtime/tensor/kernels/instruction_set.hpp>
#include <distrun/runtime/tensor/operators/philox.hpp>

namespace distrun::tensor {
namespace {

using Words = std::array<std::uint32_t, 4>;

// How many elements a block of four words makes, and which.
template <class T>
inline constexpr std::int64_t kPerBlock = 16 / sizeof(T);

float unit(const Words& words, std::int64_t i, float) {
  return static_cast<float>(words[static_cast<std::size_t>(i)] >> 8) * 0x1p-24F;
}
double unit(const Words& words, std::int64_t i, double) {
  const auto at = static_cast<std::size_t>(2 * i);
  const std::uint64_t bits = (std::uint64_t{words[at + 1]} << 32 | words[at]) >> 11;
  return static_cast<double>(bits) * 0x1p-53;
}

template <class T>
void uniform_block(const Words& words, T* out) {
  for (std::int64_t i = 0; i < kPerBlock<T>; ++i) out[i] = unit(words, i, T{});
}

// Box and Muller's: two uniform numbers make two normal ones.
void normal_block(const Words& words, double* out) {
  for (std::int64_t i = 0; i < kPerBlock<double>; i += 2) {
    const double radius = std::sqrt(-2 * std::log(1 - unit(words, i, double{})));
    const double angle = 2 * std::numbers::pi * unit(words, i + 1, double{});
    out[i] = radius * std::cos(angle);
    out[i + 1] = radius * std::sin(angle);
  }
}

// In parts that stay in the cache: uniform numbers, and normal ones of them by a kernel that makes many at once.
void fill_normal(Generator::Range range, float* out, std::int64_t count) {
  constexpr std::int64_t kPart = 1024;
  std::array<float, kPart> part;
  for (std::int64_t start = 0; start < count; start += kPart) {
    const std::int64_t size = std::min(kPart, count - start);
    for (std::int64_t i = 0; i < size; i += kPerBlock<float>) {
      uniform_block(philox(range.seed, range.first++, 0), part.data() + i);
    }
    kernels::table().unary->normal(part.data(), (size + 1) / 2);
    std::copy_n(part.data(), size, out + start);
  }
}

template <class T>
void fill_blocks(void (*make)(const Words&, T*), Generator::Range range, T* out, std::int64_t count) {
  for (std::int64_t i = 0; i < count; i += kPerBlock<T>) {
    const Words words = philox(range.seed, range.first++, 0);
    if (count - i >= kPerBlock<T>) {
      make(words, out + i);
      continue;
    }
    T last[kPerBlock<T>];
    make(words, last);
    std::copy_n(last, count - i, out + i);
  }
}

template <class T>
Generator::Range range_for(std::int64_t count, Generator& generator) {
  return generator.take(static_cast<std::uint64_t>(count / kPerBlock<T> + 1));
}

template <class T>
void launch_fill(const char* op, void (*make)(const Words&, T*), const Tensor& out, Generator& generator) {
  const std::int64_t count = out.numel();
  const Generator::Range range = range_for<T>(count, generator);
  launch(op, std::array{writes(out)},
         [make, range, count](Addresses data) { fill_blocks(make, range, reinterpret_cast<T*>(data[0]), count); });
}

void launch_normal(const Tensor& out, Generator& generator) {
  const std::int64_t count = out.numel();
  const Generator::Range range = range_for<float>(count, generator);
  launch("randn", std::array{writes(out)},
         [range, count](Addresses data) { fill_normal(range, reinterpret_cast<float*>(data[0]), count); });
}

}  // namespace

std::uint64_t Generator::seed() const {
  const std::lock_guard lock(mutex_);
  return seed_;
}

void Generator::set_seed(std::uint64_t seed) {
  const std::lock_guard lock(mutex_);
  seed_ = seed;
  next_ = 0;
}

Generator::Range Generator::take(std::uint64_t blocks) {
  const std::lock_guard lock(mutex_);
  const Range range{seed_, next_};
  next_ += blocks;
  return range;
}

Generator& generator_of(core::RankState& rank) { return rank.part<Generator>(core::Part::Random); }
Generator& default_generator() { return generator_of(core::rank_state()); }
void manual_seed(std::uint64_t seed) { default_generator().set_seed(seed); }

namespace plain {
namespace {

Tensor empty_floating(const char* op, const Dims& sizes, TensorOptions options) {
  if (!is_floating(options.dtype)) {
    refuse(op, "a floating dtype is needed, not " + std::string(name_of(options.dtype)), {});
  }
  return empty(sizes, options);
}

}  // namespace

Tensor rand(const Dims& sizes, TensorOptions options, Generator& generator) {
  const MakerScope scope("rand");
  Tensor out = empty_floating("rand", sizes, options);
  if (out.numel() == 0) return out;
  if (options.dtype == DType::F32) {
    launch_fill<float>("rand", &uniform_block<float>, out, generator);
  } else {
    launch_fill<double>("rand", &uniform_block<double>, out, generator);
  }
  return out;
}

Tensor randn(const Dims& sizes, TensorOptions options, Generator& generator) {
  const MakerScope scope("randn");
  Tensor out = empty_floating("randn", sizes, options);
  if (out.numel() == 0) return out;
  if (options.dtype == DType::F32) {
    launch_normal(out, generator);
  } else {
    launch_fill<double>("randn", &normal_block, out, generator);
  }
  return out;
}

}  // namespace plain
}  // namespace distrun::tensor
