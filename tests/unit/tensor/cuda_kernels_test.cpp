// The CUDA module's own kernels, run by the host, compared with the CPU's: every dtype and layout.
#include <catch2/catch.hpp>

#include <cmath>
#include <cstddef>
#include <cstring>
#include <string>

#include <distrun/common/base/rng.hpp>
#include <distrun/runtime/device/gpu.hpp>
#include <distrun/runtime/tensor/ops.hpp>

#include "support/gpus.hpp"

namespace distrun::tensor {
namespace {

const Device kCudaGpu = device::cuda(0);

template <class Float>
bool are_nan(const std::byte* a, const std::byte* b) {
  Float first, second;
  std::memcpy(&first, a, sizeof first), std::memcpy(&second, b, sizeof second);
  return std::isnan(first) && std::isnan(second);
}

std::string hex(const std::byte* bytes, std::size_t count) {
  std::string text = "0x";
  for (std::size_t i = count; i-- > 0;) {
    const auto byte = std::to_integer<unsigned>(bytes[i]);
    text += {"0123456789abcdef"[byte / 16], "0123456789abcdef"[byte % 16]};
  }
  return text;
}

// NaNs are equal here: GPU and CPU choose different bits when they make one.
bool is_same_bits(const Tensor& there, const Tensor& here) {
  const Tensor a = contiguous(to(there, device::kCpu)), b = contiguous(here);
  if (a.dtype() != b.dtype() || a.sizes() != b.sizes()) return false;
  const std::size_t size = size_of(b.dtype());
  for (std::size_t i = 0; i < static_cast<std::size_t>(b.numel()); ++i) {
    const auto* const first = static_cast<const std::byte*>(a.data()) + i * size;
    const auto* const second = static_cast<const std::byte*>(b.data()) + i * size;
    if (std::memcmp(first, second, size) == 0) continue;
    if (b.dtype() == DType::F32 && are_nan<float>(first, second)) continue;
    if (b.dtype() == DType::F64 && are_nan<double>(first, second)) continue;
    UNSCOPED_INFO("element " << i << " is " << hex(first, size) << " on the GPU and " << hex(second, size)
                             << " on the CPU");
    return false;
  }
  return true;
}

// One tensor on both sides.
struct Both {
  Tensor here, there;

  template <class View>
  Both view(const View& make) const {
    return {make(here), make(there)};
  }
};

class Draw {
 public:
  explicit Draw(std::uint64_t seed) : rng_(seed) {}

  std::int64_t below(std::int64_t limit) {
    return static_cast<std::int64_t>(rng_.below(static_cast<std::uint64_t>(limit)));
  }
  Dims sizes() {
    Dims sizes;
    for (std::int64_t rank = below(5); rank-- > 0;) sizes.push_back(below(20) == 0 ? 0 : 1 + below(4));
    return sizes;
  }
  // Returns small numbers, and some that not every dtype can represent.
  double number() {
    constexpr double kOdd[] = {1e300, -1e300, 1e19, -1e19, 3e9, -70000.5, 255, -129, -0.0, 0.5};
    return below(3) == 0 ? kOdd[below(std::size(kOdd))] : static_cast<double>(below(20)) / 4 - 2;
  }
  // Returns a number that such a tensor can represent.
  Scalar number_for(DType dtype) {
    for (;;) {
      const Scalar number = number_or_whole(dtype);
      if (dtype == DType::Bool || fits(number, dtype)) return number;
    }
  }
  // Returns a contiguous, transposed, cut-out, or expanded tensor.
  Both tensor(const Dims& sizes, DType dtype) {
    const std::int64_t shape = sizes.empty() ? 0 : below(4);
    Dims block = sizes;
    if (shape == 1) std::reverse(block.begin(), block.end());
    if (shape == 2) block[0] += 2;
    if (shape == 3) block[0] = std::min<std::int64_t>(block[0], 1);
    std::vector<double> values;
    for (std::int64_t i = device::count_of(block); i-- > 0;) values.push_back(number());
    const Tensor made = to(from_values<double>(values, block), dtype);
    const Both both{made, to(made, kCudaGpu)};
    if (shape == 1) return both.view([&](const Tensor& tensor) { return permute(tensor, turned(sizes.size())); });
    if (shape == 2) return both.view([&](const Tensor& tensor) { return narrow(tensor, 0, 1, sizes[0]); });
    if (shape == 3) return both.view([&](const Tensor& tensor) { return expand(tensor, sizes); });
    return both;
  }

 private:
  Scalar number_or_whole(DType dtype) {
    if (is_floating(dtype)) return number();
    return Scalar(below(3) == 0 ? below(70'000) - 35'000 : below(7) - 3);
  }
  static Dims turned(std::size_t rank) {
    Dims order;
    for (auto i = static_cast<std::int64_t>(rank); i-- > 0;) order.push_back(i);
    return order;
  }

  base::Rng rng_;
};

// Checks that no launch was staged through the host.
template <class Code>
void check_unstaged(const Code& code) {
  testing::use_gpus();
  const device::LaunchStatistics before = device::gpu_driver().launch_statistics();
  code();
  const device::LaunchStatistics after = device::gpu_driver().launch_statistics();
  CHECK(after.own > before.own);
  CHECK(after.staged == before.staged);
}

constexpr DType kAll[] = {DType::Bool, DType::U8,  DType::I8,  DType::I16,
                          DType::I32,  DType::I64, DType::F32, DType::F64};

Scalar alpha_for(DType dtype, Draw& draw) {
  if (dtype == DType::Bool) return draw.below(2) == 0;
  return is_floating(dtype) ? draw.number_for(dtype) : Scalar(draw.below(7) - 3);
}

template <class Operator>
void check_same(const Both& a, const Both& b, const Operator& operate) {
  CHECK(is_same_bits(operate(a.there, b.there), operate(a.here, b.here)));
}

}  // namespace

TEST_CASE("CUDA's kernel fills with every dtype") {
  check_unstaged([] {
    Draw draw(1);
    for (const DType dtype : kAll) {
      for (int round = 0; round < 20; ++round) {
        const Dims sizes = draw.sizes();
        const Scalar value = draw.number_for(dtype);
        CHECK(is_same_bits(full(sizes, value, {dtype, kCudaGpu}), full(sizes, value, {dtype})));
      }
      const Both matrix = draw.tensor({5, 7}, dtype).view([](const Tensor& tensor) { return clone(tensor); });
      fill_(select(matrix.here, 1, 3), 1), fill_(select(matrix.there, 1, 3), 1);
      CHECK(is_same_bits(matrix.there, matrix.here));
    }
  });
}

TEST_CASE("CUDA's kernel copies and converts between all dtypes") {
  check_unstaged([] {
    Draw draw(2);
    for (const DType from : kAll) {
      for (const DType dtype : kAll) {
        INFO(name_of(from) << " to " << name_of(dtype));
        for (int round = 0; round < 6; ++round) {
          const Both tensor = draw.tensor(draw.sizes(), from);
          CHECK(is_same_bits(to(tensor.there, dtype), to(tensor.here, dtype)));
          CHECK(is_same_bits(clone(tensor.there), clone(tensor.here)));
        }
        const Both out = draw.tensor({6, 4}, dtype).view([](const Tensor& tensor) { return clone(tensor); });
        const Both row = draw.tensor({3}, from);
        copy_(narrow(t(out.here), 1, 1, 3), row.here), copy_(narrow(t(out.there), 1, 1, 3), row.there);
        CHECK(is_same_bits(out.there, out.here));
      }
    }
  });
}

TEST_CASE("CUDA's kernels add and multiply every dtype, with tensors, numbers and in place") {
  check_unstaged([] {
    Draw draw(3);
    for (const DType dtype : kAll) {
      for (int round = 0; round < 30; ++round) {
        INFO(name_of(dtype) << ", round " << round);
        const Dims sizes = draw.sizes();
        const Both a = draw.tensor(sizes, dtype), b = draw.tensor(sizes, dtype);
        const Scalar alpha = alpha_for(dtype, draw), number = alpha_for(dtype, draw);
        CHECK(is_same_bits(add(a.there, b.there, alpha), add(a.here, b.here, alpha)));
        CHECK(is_same_bits(add(a.there, number), add(a.here, number)));
        CHECK(is_same_bits(mul(a.there, b.there), mul(a.here, b.here)));
        CHECK(is_same_bits(mul(a.there, number), mul(a.here, number)));
        CHECK(is_same_bits(mul(a.there, a.there), mul(a.here, a.here)));
        const Both own = a.view([](const Tensor& tensor) { return clone(tensor); });
        add_(own.here, b.here, alpha), add_(own.there, b.there, alpha);
        mul_(own.here, own.here), mul_(own.there, own.there);
        CHECK(is_same_bits(own.there, own.here));
        if (dtype == DType::Bool) continue;
        const Tensor first = full({}, draw.number_for(dtype), {dtype});  // on the CPU: a scalar before the tensor
        CHECK(is_same_bits(sub(a.there, b.there), sub(a.here, b.here)));
        CHECK(is_same_bits(sub(first, a.there, alpha), sub(first, a.here, alpha)));
      }
    }
  });
}

TEST_CASE("CUDA's kernels of one and of two tensors compute the same as the CPU's") {
  check_unstaged([] {
    Draw draw(4);
    for (const DType dtype : kAll) {
      for (int round = 0; round < 20; ++round) {
        INFO(name_of(dtype) << ", round " << round);
        const Dims sizes = draw.sizes();
        const Both a = draw.tensor(sizes, dtype), b = draw.tensor(sizes, dtype);
        const Scalar number = draw.number_for(dtype);
        check_same(a, b, [](const Tensor& x, const Tensor& y) { return maximum(x, y); });
        check_same(a, b, [](const Tensor& x, const Tensor& y) { return minimum(x, y); });
        check_same(a, b, [](const Tensor& x, const Tensor& y) { return logical_and(ne(x, y), le(x, y)); });
        check_same(a, b, [](const Tensor& x, const Tensor& y) { return logical_or(lt(x, y), gt(x, y)); });
        check_same(a, b, [&](const Tensor& x, const Tensor& y) { return eq(ge(x, number), eq(y, number)); });
        if (dtype == DType::Bool) continue;
        check_same(a, b, [](const Tensor& x, const Tensor& y) { return add(abs(x), neg(y)); });
        check_same(a, b, [](const Tensor& x, const Tensor& y) { return add(square(x), pow(y, 3)); });
        check_same(a, b, [&](const Tensor& x, const Tensor&) { return clamp_min(x, number); });
        check_same(a, b, [&](const Tensor& x, const Tensor&) { return clamp_max(x, number); });
        if (!is_floating(dtype)) continue;
        check_same(a, b, [](const Tensor& x, const Tensor& y) { return div(x, y); });
        check_same(a, b, [](const Tensor& x, const Tensor& y) { return mul(sqrt(abs(x)), rsqrt(abs(y))); });
        check_same(a, b, [](const Tensor& x, const Tensor& y) { return sigmoid_backward(x, y); });
        check_same(a, b, [](const Tensor& x, const Tensor& y) { return tanh_backward(x, y); });
        check_same(a, b, [](const Tensor& x, const Tensor& y) { return abs_backward(x, y); });
        check_same(a, b, [&](const Tensor& x, const Tensor& y) { return threshold_backward(x, y, number); });
        check_same(a, b, [&](const Tensor& x, const Tensor& y) { return clamp_min_backward(x, y, number); });
        check_same(a, b, [&](const Tensor& x, const Tensor& y) { return clamp_max_backward(x, y, number); });
      }
    }
  });
}

TEST_CASE("CUDA's kernels of three tensors compute the same as the CPU's") {
  check_unstaged([] {
    Draw draw(5);
    for (const DType dtype : kAll) {
      for (int round = 0; round < 20; ++round) {
        INFO(name_of(dtype) << ", round " << round);
        const Dims sizes = draw.sizes();
        const Both a = draw.tensor(sizes, dtype), b = draw.tensor(sizes, dtype), c = draw.tensor(sizes, dtype);
        const Both flags = draw.tensor(sizes, DType::Bool);
        const Scalar least = draw.number_for(dtype), largest = draw.number_for(dtype);
        CHECK(is_same_bits(where(flags.there, a.there, b.there), where(flags.here, a.here, b.here)));
        CHECK(is_same_bits(where(flags.there, least, b.there), where(flags.here, least, b.here)));
        CHECK(is_same_bits(where(flags.there, a.there, largest), where(flags.here, a.here, largest)));
        if (dtype == DType::Bool) continue;
        check_same(a, b, [&](const Tensor& x, const Tensor&) { return clamp(x, least, largest); });
        if (!is_floating(dtype)) continue;
        CHECK(is_same_bits(keep_scaled(flags.there, a.there, 4), keep_scaled(flags.here, a.here, 4)));
        CHECK(is_same_bits(maximum_backward(c.there, a.there, b.there), maximum_backward(c.here, a.here, b.here)));
        CHECK(is_same_bits(minimum_backward(c.there, a.there, b.there), minimum_backward(c.here, a.here, b.here)));
      }
    }
  });
}

TEST_CASE("CUDA's kernels take as many dimensions as a tensor has") {
  check_unstaged([] {
    // 16 dimensions of 2 elements, none of which continues another.
    const Dims sizes(16, 2);
    Dims strides;
    for (std::int64_t i = 0; i < 16; ++i) strides.push_back((std::int64_t{3} << (15 - i)) / 2 + 1);
    std::int64_t elements = 1;
    for (const std::int64_t stride : strides) elements += stride;
    const Tensor block = to(arange(elements), DType::F32), there = to(block, kCudaGpu);
    const Tensor a = as_strided(block, sizes, strides, 0), b = as_strided(there, sizes, strides, 0);
    CHECK(is_same_bits(add(b, b, 0.5), add(a, a, 0.5)));
  });
}

TEST_CASE("an operator without a CUDA kernel runs on the host, and says so") {
  testing::use_gpus();
  const auto staged = [](const char* name) {
    const device::LaunchStatistics statistics = device::gpu_driver().launch_statistics();
    const auto found = statistics.staged.find(name);
    return found == statistics.staged.end() ? 0 : found->second;
  };
  const Tensor a = to(view(to(arange(6), DType::F32), {2, 3}), kCudaGpu);
  CHECK(staged("cos") == 0);
  cos(a), cos(t(a)), matmul(a, t(a));
  CHECK(staged("cos") == 2);
  CHECK(staged("arange") == 0);  // on the CPU
  CHECK(staged("matmul") == 1);
  CHECK(is_same_bits(cos(t(a)), cos(t(to(a, device::kCpu)))));
}

}  // namespace distrun::tensor
