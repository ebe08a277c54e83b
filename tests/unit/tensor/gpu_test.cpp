// The operators on GPUs, virtual ones, those of the emulated CUDA and real ones (support/gpus.hpp): the same bits as on
// the CPU, with checked stream order.
#include <catch2/catch.hpp>

#include <cstring>

#include <distrun/runtime/device/order_report.hpp>
#include <distrun/runtime/device/stream.hpp>
#include <distrun/runtime/tensor/closeness.hpp>
#include <distrun/runtime/tensor/ops.hpp>
#include <distrun/runtime/tensor/print.hpp>

#include "golden_cases.hpp"
#include "golden_operators.hpp"
#include "support/gpus.hpp"

namespace distrun::tensor {
namespace {

using Catch::Matchers::Contains;

const Device kGpu = device::cuda(0);

bool has_same_bits(const Tensor& a, const Tensor& b) {
  if (a.dtype() != b.dtype() || a.sizes() != b.sizes()) return false;
  const Tensor left = contiguous(to(to_dense(a), device::kCpu)), right = contiguous(to(to_dense(b), device::kCpu));
  const auto bytes = static_cast<std::size_t>(left.numel()) * size_of(left.dtype());
  return bytes == 0 || std::memcmp(left.data(), right.data(), bytes) == 0;
}

}  // namespace

TEST_CASE("operators give the same bits on a GPU as on the CPU") {
  testing::use_gpus();
  for (const char* file : kGoldenFiles) {
    const std::vector<GoldenCase> here = read_golden(file, device::kCpu), there = read_golden(file, kGpu);
    REQUIRE(here.size() == there.size());
    for (std::size_t i = 0; i < here.size(); ++i) {
      INFO(here[i].place << " " << here[i].name);
      const GoldenResults expected = golden_operators().at(here[i].name)(here[i]);
      for (const auto& [name, result] : golden_operators().at(there[i].name)(there[i])) {
        CHECK(result.device() == kGpu);
        CHECK(has_same_bits(result, expected.at(name)));
      }
    }
  }
}

TEST_CASE("random numbers are the same on every device") {
  testing::use_gpus();
  Generator here(9), there(9);
  CHECK(has_same_bits(rand({33}, {}, here), rand({33}, {DType::F32, kGpu}, there)));
  CHECK(has_same_bits(randn({7, 5}, {DType::F64}, here), randn({7, 5}, {DType::F64, kGpu}, there)));
}

TEST_CASE("views, fills and in-place operators of a device") {
  testing::use_gpus();
  const Tensor a = zeros({4, 4}, {DType::F32, kGpu});
  fill_(select(a, 1, 2), 5);
  add_(select(a, 0, 1), 1);
  mul_(t(a), 2);
  copy_(narrow(a, 0, 3, 1), arange(4));
  CHECK(to_vector<float>(a) == std::vector<float>{0, 0, 10, 0, 2, 2, 12, 2, 0, 0, 10, 0, 0, 1, 2, 3});
  CHECK(sum(a).item_as<float>() == 44);
  CHECK(equal(a, clone(a)));
  CHECK(nonzero(a).sizes() == Dims{9, 2});
  CHECK(to_vector<std::int64_t>(nonzero(a)) == to_vector<std::int64_t>(nonzero(to(a, device::kCpu))));
  CHECK(equal(to(t(a), DType::F64), to(t(to(a, device::kCpu)), {DType::F64, kGpu})));
  CHECK(to_string(full({2}, 3, {DType::F64, kGpu})) == "tensor([3., 3.], device='cuda:0', dtype=float64)");
}

TEST_CASE("tensors of different devices cannot be combined, but numbers can") {
  testing::use_gpus();
  const Tensor here = ones({2}), there = ones({2}, {DType::F32, kGpu});
  CHECK_THROWS_WITH(
      add(there, here),
      "add: Expected all tensors to be on the same device, but found at least two devices, cuda:0 and cpu!");
  if (const Device other = testing::other_gpu(); other != kGpu) {
    CHECK_THROWS_WITH(matmul(there, ones({2}, {DType::F32, other})), Contains("cuda:0 and cuda:1!"));
  }
  CHECK(to_vector<float>(add(there, full({}, 2))) == std::vector<float>{3, 3});
  CHECK(to_vector<float>(mul(full({}, 2), there)) == std::vector<float>{2, 2});
  CHECK_THROWS_WITH(equal(here, there), Contains("Expected all tensors to be on the same device"));
  CHECK(is_close(here, there));
}

TEST_CASE("copies go to, from and between devices, with any layout") {
  const Device other = testing::other_gpu();
  const Tensor a = view(to(arange(12), DType::F32), {3, 4});
  const Tensor there = to(a, kGpu);
  CHECK(has_same_bits(to(there, other), a));
  CHECK(has_same_bits(to(t(there), other), t(a)));
  CHECK(has_same_bits(to(t(there), {DType::I64, device::kCpu}), to(t(a), DType::I64)));
  const Tensor out = zeros({4, 3}, {DType::F64, other});
  copy_(t(out), there);
  CHECK(has_same_bits(out, to(t(a), DType::F64)));
  copy_(select(out, 0, 1), to(full({1}, 7), kGpu));
  CHECK(to_vector<double>(select(out, 0, 1)) == std::vector<double>{7, 7, 7});
  const Tensor later = to(a, kGpu, true);
  CHECK(has_same_bits(later, a));
  const Tensor host = empty({3, 4});
  copy_(host, mul(later, 2), true);
  device::synchronize(kGpu);
  CHECK(has_same_bits(host, mul(a, 2)));
}

// CUDA copies must not overlap: the emulated one refuses overlaps.
TEST_CASE("copies within one tensor of a device may overlap") {
  testing::use_gpus();
  const Tensor x = to(arange(10), kGpu);
  copy_(narrow(x, 0, 1, 9), narrow(x, 0, 0, 9));
  CHECK(to_vector<std::int64_t>(x) == std::vector<std::int64_t>{0, 0, 1, 2, 3, 4, 5, 6, 7, 8});
  copy_(narrow(x, 0, 0, 8), narrow(x, 0, 2, 8));
  CHECK(to_vector<std::int64_t>(x) == std::vector<std::int64_t>{1, 2, 3, 4, 5, 6, 7, 8, 7, 8});
  const std::uint32_t version = x.version();
  copy_(x, x);
  CHECK(x.version() > version);
  copy_(narrow(x, 0, 0, 5), narrow(x, 0, 5, 5));
  CHECK(to_vector<std::int64_t>(x) == std::vector<std::int64_t>{6, 7, 8, 7, 8, 6, 7, 8, 7, 8});
}

TEST_CASE("integers of a device are compared with larger numbers of the CPU") {
  testing::use_gpus();
  const Tensor bytes = to(from_values<std::uint8_t>({200, 44}), kGpu);
  CHECK(to_vector<bool>(lt(bytes, full({}, 300, DType::I64))) == std::vector<bool>{true, true});
  CHECK(to_vector<bool>(eq(full({}, 300, DType::I64), bytes)) == std::vector<bool>{false, false});
  CHECK(to_vector<bool>(lt(bytes, 300)) == std::vector<bool>{true, true});
  CHECK(lt(bytes, 300).device() == kGpu);
}

TEST_CASE("sparse tensors of a device") {
  testing::use_gpus();
  const Tensor indices = from_values<std::int64_t>({0, 1, 1, 1, 2, 0, 2, 2}, {2, 4});
  const Tensor s = sparse_coo(indices, from_values<float>({3, 4, 2, 3}), {2, 3}), there = to(s, kGpu);
  CHECK(there.device() == kGpu);
  CHECK(has_same_bits(coalesce(there), s));
  CHECK(has_same_bits(add(there, there), add(s, s)));
  CHECK(has_same_bits(mul(there, coalesce(there)), mul(s, coalesce(s))));
  CHECK(has_same_bits(stack({there, there}), stack({s, s})));
  CHECK(has_same_bits(select(there, 0, 1), select(s, 0, 1)));
  CHECK(has_same_bits(add(ones({2, 3}, {DType::F32, kGpu}), there), add(ones({2, 3}), s)));
  CHECK(has_same_bits(sum(there), sum(s)));
  CHECK(equal(there, coalesce(there)));
  add_(there, there);
  CHECK(has_same_bits(there, mul(s, 2)));
}

TEST_CASE("accesses without an order between streams are reported, and ordered ones are not") {
  testing::use_checked_gpus();
  const Stream side = device::stream_from_pool(kGpu);
  const Tensor matrix = ones({64, 64}, {DType::F32, kGpu});
  device::synchronize(kGpu);
  int reports = 0;
  device::tell_order_reports_to([&reports](const device::OrderReport&) { ++reports; });
  // Two columns of one matrix do not conflict; the same column does.
  const auto on_both = [&](std::int64_t first, std::int64_t second) {
    add_(select(matrix, 1, first), 1);
    const device::StreamGuard guard(side);
    add_(select(matrix, 1, second), 1);
  };
  on_both(1, 2);
  CHECK(reports == 0);
  on_both(3, 3);
  CHECK(reports == 1);
  add_(select(matrix, 1, 4), 1);
  device::Event done;
  done.record(device::current_stream(kGpu));
  done.block(side);
  {
    const device::StreamGuard guard(side);
    add_(select(matrix, 1, 4), 1);
  }
  CHECK(reports == 1);
  device::synchronize(kGpu);
  device::tell_order_reports_to({});
}

}  // namespace distrun::tensor
