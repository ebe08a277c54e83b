// Tensors: results of operators, on the CPU and on devices, and rejected arguments.
#include <distrun/test.hpp>

#include <cstring>
#include <string>

#include <distrun/runtime/device/stream.hpp>
#include <distrun/runtime/tensor/closeness.hpp>
#include <distrun/runtime/tensor/ops.hpp>
#include <distrun/runtime/tensor/print.hpp>

#include "kernels.hpp"

namespace t = distrun::tensor;
using distrun::DType;
using distrun::Tensor;
using distrun::device::cuda;

DISTRUN_SUITE(Tensors);
DISTRUN_SUITE(DeviceTensors, .devices = 2);

namespace {

Tensor sample_matrix(int rank) { return t::add(t::view(t::to(t::arange(12), DType::F32), {3, 4}), rank); }

Tensor sample_sparse() {
  return t::sparse_coo(t::from_values<std::int64_t>({0, 1, 1, 2, 0, 2}, {2, 3}),
                       t::from_values<std::int64_t>({3, 4, 5}), {2, 3});
}

std::string bytes_of(const Tensor& tensor) {
  const Tensor here = t::contiguous(t::to(tensor, distrun::device::kCpu));
  return {reinterpret_cast<const char*>(here.data()),
          static_cast<std::size_t>(here.numel()) * t::size_of(here.dtype())};
}

// Returns results of many operators, which depend on the rank.
std::vector<Tensor> results_of(const Tensor& a) {
  const Tensor square = t::matmul(a, t::t(a));
  return {t::cos(a),
          t::sigmoid(t::mul(a, 0.1)),
          square,
          t::sum(square, {0}),
          t::sum(a),
          t::nonzero(t::gt(a, 5)),
          t::to_dense(t::mul(
              t::sparse_mask(a, t::sparse_coo(t::to(t::from_values<std::int64_t>({0, 2, 1, 3}, {2, 2}), a.device()),
                                              t::ones({2}, a.options()), a.sizes())),
              2))};
}

}  // namespace

DISTRUN_TEST(Tensors, stretch_and_are_promoted) {
  const Tensor sum = t::add(t::ones({2, 1}), t::full({3}, rank.rank(), {DType::F64}));
  DISTRUN_EXPECT(sum.sizes() == (distrun::Dims{2, 3}));
  DISTRUN_EXPECT(sum.dtype() == DType::F64);
  DISTRUN_EXPECT(t::is_close(sum, t::full({2, 3}, rank.rank() + 1, {DType::F64})));
}

DISTRUN_TEST(Tensors, share_bytes_and_version_with_views) {
  const Tensor matrix = sample_matrix(rank.rank());
  t::zero_(t::select(matrix, 1, 2));
  DISTRUN_EXPECT(matrix.version() == 1);
  DISTRUN_EXPECT(t::sum(t::narrow(matrix, 1, 2, 1)).item_as<int>() == 0);
}

DISTRUN_TEST(Tensors, are_multiplied_as_matrices) {
  const Tensor a = sample_matrix(rank.rank());
  DISTRUN_EXPECT(t::is_close(t::matmul(a, t::ones({4})), t::sum(a, {1})));
  DISTRUN_EXPECT(t::is_close(t::multi_dot({a, t::t(a), a}), t::matmul(t::matmul(a, t::t(a)), a)));
}

DISTRUN_TEST(Tensors, that_do_not_fit_are_refused_with_operator_sizes_and_dtypes) {
  DISTRUN_EXPECT_THROWS(distrun::Error, "add: the size of tensor a (10) must match the size of tensor b (5)",
                        t::add(t::ones({10}), t::ones({5})));
  DISTRUN_EXPECT_THROWS(distrun::Error, "mat1 and mat2 shapes cannot be multiplied (3x3 and 6x6)",
                        t::matmul(t::ones({3, 3}), t::ones({6, 6})));
}

DISTRUN_TEST(Tensors, that_are_sparse_add_up) {
  const Tensor s = sample_sparse();
  Tensor sum = s;
  for (int i = 0; i < rank.world_size(); ++i) sum = t::add(sum, s);
  DISTRUN_EXPECT(sum.is_sparse());
  DISTRUN_EXPECT(t::is_close(sum, t::mul(s, rank.world_size() + 1)));
  DISTRUN_EXPECT(t::div(s, 2).dtype() == DType::F32);
}

DISTRUN_TEST(Tensors, are_told_apart_with_index_and_values) {
  const Tensor a = sample_matrix(0), b = sample_matrix(0);
  t::add_(t::select(t::select(b, 0, 1), 0, 2), 0.5);
  const auto difference = t::difference(a, b);
  DISTRUN_REQUIRE(difference.has_value());
  DISTRUN_EXPECT(difference->find("the first at [1, 2]: 6, expected 6.5") != std::string::npos);
}

DISTRUN_TEST(Tensors, print_as_people_expect) {
  DISTRUN_EXPECT(t::to_string(t::from_values<float>({1, 2.5F})) == "tensor([1.0000, 2.5000])");
}

DISTRUN_TEST(Tensors, random_ones_are_each_ranks_own) {
  const std::string own = bytes_of(t::rand({8}));
  if (!rank.is_master()) return rank.send(0, "numbers", own);
  std::vector<std::string> all{own};
  for (int other = 1; other < rank.world_size(); ++other) all.push_back(rank.receive(other, "numbers"));
  for (std::size_t i = 0; i < all.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) DISTRUN_EXPECT(all[i] != all[j]);
  }
}

DISTRUN_TEST(Tensors, random_ones_begin_anew_with_each_test) {
  t::Generator generator(rank.seed());
  DISTRUN_EXPECT(t::equal(t::rand({16}), t::rand({16}, {}, generator)));
}

DISTRUN_TEST(Tensors, random_ones_of_one_seed_are_the_same_everywhere) {
  t::Generator generator(rank.shared_seed());
  const std::string numbers = bytes_of(t::randn({100}, {}, generator));
  if (!rank.is_master()) return rank.send(0, "numbers", numbers);
  for (int other = 1; other < rank.world_size(); ++other) DISTRUN_EXPECT(rank.receive(other, "numbers") == numbers);
}

DISTRUN_TEST(DeviceTensors, have_the_bits_of_those_of_the_cpu) {
  const Tensor here = sample_matrix(rank.rank());
  const std::vector<Tensor> expected = results_of(here), results = results_of(t::to(here, cuda(0)));
  for (std::size_t i = 0; i < expected.size(); ++i) {
    DISTRUN_EXPECT(results[i].device() == cuda(0));
    DISTRUN_EXPECT(bytes_of(results[i]) == bytes_of(expected[i]));
  }
}

DISTRUN_TEST(DeviceTensors, travel_and_come_back) {
  const Tensor here = sample_matrix(rank.rank());
  const Tensor there = t::to(t::to(here, cuda(0)), cuda(1));
  t::mul_(t::t(there), 2);
  DISTRUN_EXPECT(t::is_close(t::to(there, distrun::device::kCpu), t::mul(here, 2)));
}

DISTRUN_TEST(DeviceTensors, follow_the_order_of_streams) {
  const distrun::Stream side = distrun::device::stream_from_pool(cuda(0));
  const Tensor numbers = t::zeros({1000}, {DType::I64, cuda(0)});
  distrun::Event is_filled, is_changed;
  side.driver().busy(distrun::device::current_stream(cuda(0)).ref(), 2'000'000);
  t::fill_(numbers, 3);
  is_filled.record(distrun::device::current_stream(cuda(0)));
  is_filled.block(side);
  {
    const distrun::device::StreamGuard guard(side);
    t::mul_(numbers, 2);
    numbers.record_stream(side);
    is_changed.record(side);
  }
  is_changed.block(distrun::device::current_stream(cuda(0)));
  DISTRUN_EXPECT(t::sum(numbers).item_as<int>() == 6000);
}

DISTRUN_TEST(DeviceTensors, of_different_devices_do_not_meet) {
  DISTRUN_EXPECT_THROWS(distrun::Error, "Expected all tensors to be on the same device, but found at least two devices",
                        t::add(t::ones({2}, {DType::F32, cuda(0)}), t::ones({2}, {DType::F32, cuda(1)})));
  DISTRUN_EXPECT_THROWS(distrun::Error, "cuda:0 and cpu!", t::add(t::ones({2}, {DType::F32, cuda(0)}), t::ones({2})));
}
