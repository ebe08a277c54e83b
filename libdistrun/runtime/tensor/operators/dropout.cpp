#include <distrun/runtime/tensor/operators/dropout.hpp>

#include <algorithm>
#include <array>

#include <distrun/runtime/tensor/core/empty.hpp>
#include <distrun/runtime/tensor/core/launch.hpp>
#include <distrun/runtime/tensor/kernels/instruction_set.hpp>

namespace distrun::tensor::plain {
namespace {

constexpr std::int64_t kPerBlock = 4;  // random numbers per block of the generator

// Compares uniform numbers with p (kept if not below), in parts that stay in the cache.
void draw(Generator::Range range, float p, bool* kept, std::int64_t count) {
  constexpr std::int64_t kPart = 1024;
  constexpr std::int64_t kStrides[] = {sizeof(bool), sizeof(float), 0};
  std::array<float, kPart> uniform;
  const auto compare = kernels::table().binary->compare[static_cast<int>(kernels::Comparison::Ge)];
  for (std::int64_t start = 0; start < count; start += kPart, range.first += kPart / kPerBlock) {
    const std::int64_t size = std::min(kPart, count - start);
    kernels::table().random->uniform_f32(range.seed, range.first, uniform.data(), size);
    std::byte* const data[] = {reinterpret_cast<std::byte*>(kept + start), reinterpret_cast<std::byte*>(uniform.data()),
                               reinterpret_cast<std::byte*>(&p)};
    compare[static_cast<int>(DType::F32)](data, {kStrides, size}, {}, nullptr);
  }
}

}  // namespace

Tensor dropout_mask(const Dims& sizes, double p, Device device, Generator& generator) {
  Tensor out = empty(sizes, {DType::Bool, device});
  const std::int64_t count = out.numel();
  if (count == 0) return out;
  const Generator::Range range = generator.take(static_cast<std::uint64_t>(count / kPerBlock + 1));
  launch("dropout", std::array{writes(out)}, [range, p = static_cast<float>(p), count](Addresses data) {
    draw(range, p, reinterpret_cast<bool*>(data[0]), count);
  });
  return out;
}

}  // namespace distrun::tensor::plain
