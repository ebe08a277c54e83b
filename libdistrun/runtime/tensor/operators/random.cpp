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

namespace distrun::tensor {
namespace {

// Box-Muller transform in parts that stay in the cache: two uniform numbers give two normal ones.
void fill_normal(std::uint64_t key, std::uint64_t first, double* out, std::int64_t count) {
  constexpr std::int64_t kPart = 512;
  std::array<double, kPart> part;
  const auto uniform = kernels::table().random->uniform_f64;
  for (std::int64_t start = 0; start < count; start += kPart, first += kPart / 2) {
    const std::int64_t size = std::min(kPart, count - start);
    uniform(key, first, part.data(), (size + 1) / 2 * 2);
    for (std::size_t i = 0; i < static_cast<std::size_t>(size); i += 2) {
      const double radius = std::sqrt(-2 * std::log(1 - part[i]));
      const double angle = 2 * std::numbers::pi * part[i + 1];
      part[i] = radius * std::cos(angle);
      part[i + 1] = radius * std::sin(angle);
    }
    std::copy_n(part.data(), size, out + start);
  }
}

template <class T>
using Fill = void (*)(std::uint64_t key, std::uint64_t first, T* out, std::int64_t count);

template <class T>
void launch_fill(const char* op, Fill<T> fill, const Tensor& out, Generator& generator) {
  constexpr std::int64_t kPerBlock = 16 / sizeof(T);
  const std::int64_t count = out.numel();
  const Generator::Range range = generator.take(static_cast<std::uint64_t>(count / kPerBlock + 1));
  launch(op, std::array{writes(out)},
         [fill, range, count](Addresses data) { fill(range.seed, range.first, reinterpret_cast<T*>(data[0]), count); });
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
    refuse(op, "a floating dtype is required, not " + std::string(name_of(options.dtype)), {});
  }
  return empty(sizes, options);
}

}  // namespace

Tensor rand(const Dims& sizes, TensorOptions options, Generator& generator) {
  const MakerScope scope("rand");
  Tensor out = empty_floating("rand", sizes, options);
  if (out.numel() == 0) return out;
  if (options.dtype == DType::F32) {
    launch_fill<float>("rand", kernels::table().random->uniform_f32, out, generator);
  } else {
    launch_fill<double>("rand", kernels::table().random->uniform_f64, out, generator);
  }
  return out;
}

Tensor randn(const Dims& sizes, TensorOptions options, Generator& generator) {
  const MakerScope scope("randn");
  Tensor out = empty_floating("randn", sizes, options);
  if (out.numel() == 0) return out;
  if (options.dtype == DType::F32) {
    launch_fill<float>("randn", kernels::table().random->normal_f32, out, generator);
  } else {
    launch_fill<double>("randn", &fill_normal, out, generator);
  }
  return out;
}

}  // namespace plain
}  // namespace distrun::tensor
