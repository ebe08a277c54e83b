// Plain operators with undefined tensors and absurd numbers: they refuse them, naming the wrong one, and never overflow
// an std::int64_t. tests/unit/autograd/nonsense_test.cpp covers named operators more widely.
#include <catch2/catch.hpp>

#include <functional>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include <distrun/common/base/error.hpp>
#include <distrun/runtime/tensor/closeness.hpp>
#include <distrun/runtime/tensor/ops.hpp>
#include <distrun/runtime/tensor/print.hpp>

namespace distrun::tensor {
namespace {

using Catch::Matchers::Contains;

using Calls = std::vector<std::pair<const char*, std::function<void()>>>;

void check_refused(const Calls& calls) {
  for (const auto& [name, call] : calls) {
    INFO(name);
    CHECK_THROWS_WITH(call(), Contains("undefined"));
    CHECK_THROWS_AS(call(), Error);
  }
}

const Tensor none;
constexpr std::int64_t kMost = INT64_MAX, kLeast = INT64_MIN, kHalf = std::int64_t{1} << 62;

Tensor square() { return ones({2, 2}); }
Tensor images() { return ones({1, 2, 4, 4}); }
Tensor two_rows() { return from_values<std::int64_t>({0, 1}); }
Tensor entries() { return sparse_coo(zeros({2, 3}, {DType::I64}), ones({3}), {2, 2}); }

}  // namespace

TEST_CASE("an undefined tensor has no size, no elements and no version to count") {
  check_refused({
      {"size", [] { none.size(0); }},
      {"strides", [] { none.strides(); }},
      {"is_contiguous", [] { none.is_contiguous(); }},
      {"data", [] { none.data(); }},
      {"data_as", [] { none.data_as<float>(); }},
      {"item", [] { none.item(); }},
      {"bump_version", [] { none.bump_version(); }},
      {"to_vector", [] { to_vector<float>(none); }},
      {"sparse", [] { sparse(none); }},
      {"nnz", [] { nnz(none); }},
      {"sparse_dim", [] { sparse_dim(none); }},
      {"is_coalesced", [] { is_coalesced(none); }},
  });
  std::ostringstream text;
  text << none;
  CHECK(text.str() == "tensor(undefined)");
  CHECK(difference(none, square()) == "undefined, expected float32 [2, 2]");
  CHECK(is_close(none, none));
}

TEST_CASE("undefined tensors are refused by views and copies") {
  check_refused({
      {"as_strided", [] { as_strided(none, {1}, {1}, 0); }},
      {"alias", [] { alias(none); }},
      {"view", [] { view(none, {1}); }},
      {"reshape", [] { reshape(none, {1}); }},
      {"flatten", [] { flatten(none); }},
      {"expand", [] { expand(none, {1}); }},
      {"transpose", [] { transpose(none, 0, 1); }},
      {"t", [] { t(none); }},
      {"permute", [] { permute(none, {0}); }},
      {"unsqueeze", [] { unsqueeze(none, 0); }},
      {"squeeze", [] { squeeze(none, 0); }},
      {"narrow", [] { narrow(none, 0, 0, 1); }},
      {"select_view", [] { select_view(none, 0, 0); }},
      {"select", [] { select(none, 0, 0); }},
      {"split", [] { split(none, 1); }},
      {"split by sizes", [] { split(none, Dims{1}); }},
      {"clone", [] { clone(none); }},
      {"contiguous", [] { contiguous(none); }},
      {"to a dtype", [] { to(none, DType::F64); }},
      {"to a device", [] { to(none, device::kCpu); }},
      {"to both", [] { to(none, TensorOptions()); }},
      {"copy_ to", [] { copy_(none, square()); }},
      {"copy_ from", [] { copy_(square(), none); }},
      {"empty_like", [] { empty_like(none); }},
      {"zeros_like", [] { zeros_like(none); }},
      {"ones_like", [] { ones_like(none); }},
      {"full_like", [] { full_like(none, 1); }},
      {"cat", [] { cat({none}); }},
      {"cat of others",
       [] {
         cat({square(), none});
       }},
      {"stack", [] { stack({none}); }},
      {"stack of others",
       [] {
         stack({square(), none});
       }},
  });
}

TEST_CASE("undefined tensors are refused by all kinds of operators") {
  const Bags no_offsets{two_rows(), none, BagMode::Sum, none}, no_indices{none, two_rows(), BagMode::Sum, none};
  const Bags bags{two_rows(), two_rows(), BagMode::Sum, none};
  const Dims sizes{1, 2, 4, 4}, weight_sizes{2, 2, 1, 1};
  const Moments no_moments, moments{ones({2}), ones({2})};
  check_refused({
      {"sqrt", [] { tensor::sqrt(none); }},
      {"maximum", [] { maximum(square(), none); }},
      {"sigmoid_backward", [] { sigmoid_backward(none, square()); }},
      {"threshold_backward", [] { threshold_backward(square(), none, 0); }},
      {"clamp_min_backward", [] { clamp_min_backward(none, square(), 0); }},
      {"sum_to_size", [] { sum_to_size(none, {1}); }},
      {"conv2d_input_gradient", [&] { conv2d_input_gradient(none, images(), sizes); }},
      {"conv2d_weight_gradient", [&] { conv2d_weight_gradient(images(), none, weight_sizes); }},
      {"max_pool2d_gradient", [&] { max_pool2d_gradient(images(), none, sizes); }},
      {"embedding_bag without indices", [&] { embedding_bag(square(), no_indices); }},
      {"embedding_bag without offsets", [&] { embedding_bag(square(), no_offsets); }},
      {"embedding_bag_gradient", [&] { embedding_bag_gradient(none, bags, 2); }},
      {"embedding_bag_sparse_gradient", [&] { embedding_bag_sparse_gradient(none, bags, 2); }},
      {"embedding_bag_weights_gradient", [&] { embedding_bag_weights_gradient(square(), none, bags); }},
      {"softmax_gradient", [] { softmax_gradient(none, square(), 0); }},
      {"softmax_gradient of none", [] { softmax_gradient(square(), none, 0); }},
      {"channel_moments", [] { channel_moments(none); }},
      {"inverse_deviation", [] { inverse_deviation(none, 0); }},
      {"normalize_channels", [] { normalize_channels(square(), none, none, none, none); }},
      {"channel_sums", [] { channel_sums(square(), square(), none); }},
      {"normalize_channels_gradient",
       [&] { normalize_channels_gradient(square(), square(), no_moments, none, none, {}); }},
      {"normalize_channels_gradient of none",
       [&] { normalize_channels_gradient(none, square(), moments, ones({2}), none, {}); }},
      {"sparse_coo", [] { sparse_coo(none, ones({1})); }},
      {"sparse_mask of none", [] { sparse_mask(none, entries()); }},
      {"sparse_mask", [] { sparse_mask(square(), none); }},
      {"select_sparse", [] { select_sparse(none, 0, 0); }},
  });
}

TEST_CASE("a tensor with too many elements is refused, with its sizes in the text") {
  CHECK_THROWS_WITH(empty({kMost, 2}), Contains("no tensor can have sizes [9223372036854775807, 2]"));
  CHECK_THROWS_WITH(empty({0, kHalf, 4}), Contains("more elements than can be counted"));
  CHECK_THROWS_WITH(empty({2, kLeast}), Contains("sizes [2, -9223372036854775808]: one is below 0"));
  CHECK_THROWS_WITH(empty({kMost}), Contains("9223372036854775807 float32 elements has too many bytes"));
  CHECK_THROWS_WITH(empty({std::int64_t{1} << 61}, {DType::Bool}), Contains("has too many bytes"));
  CHECK_THROWS_WITH(arange(kMost), Contains("9223372036854775807 int64 elements has too many bytes"));
  CHECK_THROWS_WITH(arange(kLeast), Contains("the end must be 0 or more, but it is -9223372036854775808"));
  CHECK_THROWS_WITH(from_data(nullptr, {3}), Contains("no data for sizes [3]"));
  CHECK_THROWS_WITH(from_values<float>({1}, {kMost, kMost}), Contains("[9223372036854775807, 9223372036854775807]"));
  CHECK_THROWS_WITH(from_values<float>({1, 2, 3, 4}, {-2, -2}), Contains("sizes [-2, -2]"));
  CHECK(empty({0, kMost}).numel() == 0);
}

TEST_CASE("views of huge sizes are refused, and those without elements are possible") {
  const Tensor a = arange(6), nothing = zeros({0, 1});
  CHECK_THROWS_WITH(view(a, {kMost, kMost}), Contains("[9223372036854775807, 9223372036854775807]"));
  CHECK_THROWS_WITH(view(a, {-1, kHalf, 4}), Contains("[1, 4611686018427387904, 4]"));
  CHECK_THROWS_WITH(view(a, {-1, kHalf}), Contains("[-1, 4611686018427387904] are invalid for input of 6 elements"));
  CHECK_THROWS_WITH(view(a, {kLeast}), Contains("invalid sizes [-9223372036854775808]"));
  CHECK_THROWS_WITH(view(nothing, {0, kHalf, 4}), Contains("[0, 4611686018427387904, 4]"));
  CHECK_THROWS_WITH(reshape(a, {kLeast, -1}), Contains("reshape: invalid sizes"));
  CHECK_THROWS_WITH(expand(ones({1, 1}), {kHalf, 4}), Contains("[4611686018427387904, 4]"));
  CHECK_THROWS_WITH(expand(zeros({0, 1, 1}), {0, kHalf, 4}), Contains("[0, 4611686018427387904, 4]"));
  CHECK_THROWS_WITH(expand(a, {kLeast, 6}), Contains("cannot be expanded to sizes [-9223372036854775808, 6]"));
  CHECK(flatten(expand(nothing, {0, kMost}), 0, 1).sizes() == Dims{0});
  CHECK(unsqueeze(expand(nothing, {0, kMost}), 0).sizes() == Dims{1, 0, kMost});
  CHECK(narrow(expand(ones({1}), {kMost}), 0, kMost - 1, 1).item_as<float>() == 1);
}

TEST_CASE("ranges beyond a dimension are refused, however far") {
  const Tensor a = arange(6);
  CHECK_THROWS_WITH(narrow(a, 0, 1, kMost), Contains("start (1) and length (9223372036854775807) exceed dimension 0"));
  CHECK_THROWS_WITH(narrow(a, 0, kMost, kMost), Contains("start (9223372036854775807)"));
  CHECK_THROWS_WITH(narrow(a, 0, kLeast, 1), Contains("start (-9223372036854775808)"));
  CHECK_THROWS_WITH(narrow(a, 0, 0, kLeast), Contains("length (-9223372036854775808)"));
  CHECK_THROWS_WITH(narrow(a, kLeast, 0, 1), Contains("but got -9223372036854775808"));
  CHECK_THROWS_WITH(select(a, 0, kLeast), Contains("index -9223372036854775808 is out of bounds"));
  CHECK_THROWS_WITH(select(a, 0, kMost), Contains("index 9223372036854775807 is out of bounds"));
  CHECK_THROWS_WITH(unsqueeze(a, kMost), Contains("but got 9223372036854775807"));
  CHECK_THROWS_WITH(permute(a, {kLeast}), Contains("but got -9223372036854775808"));
  CHECK_THROWS_WITH(stack({a, a}, kLeast), Contains("but got -9223372036854775808"));
  CHECK_THROWS_WITH(sum(a, {kMost}), Contains("but got 9223372036854775807"));
}

TEST_CASE("pieces of huge sizes do not add up to a dimension") {
  const Tensor a = arange(6), endless = expand(ones({1}), {kMost});
  CHECK_THROWS_WITH(split(a, Dims{kMost, kMost, 8}),
                    Contains("pieces of [9223372036854775807, 9223372036854775807, 8]"));
  CHECK_THROWS_WITH(split(a, Dims{-1, 7}), Contains("pieces of [-1, 7]"));
  CHECK_THROWS_WITH(split(a, Dims{kLeast, kLeast, 6}), Contains("do not make up dimension 0"));
  CHECK_THROWS_WITH(split(a, Dims{2, 3}), Contains("do not make up dimension 0"));
  CHECK_THROWS_WITH(split(a, kLeast), Contains("pieces of size -9223372036854775808"));
  CHECK_THROWS_WITH(split(ones({}), 1), Contains("split: cannot be applied to a tensor without dimensions"));
  CHECK_THROWS_WITH(split(endless, 1), Contains("pieces of size 1 of dimension 0 are more than 16777216"));
  CHECK(split(a, kMost).size() == 1);
  CHECK(split(endless, kHalf).size() == 2);
  CHECK(split(a, Dims{0, 6, 0}).size() == 3);
}

TEST_CASE("strides that are never followed may have any value that does not overflow") {
  const Tensor a = arange(6);
  CHECK_THROWS_WITH(as_strided(a, {1}, {kMost}, 0), Contains("strides [9223372036854775807]"));
  CHECK_THROWS_WITH(as_strided(a, {1, 2}, {kLeast, 1}, 0), Contains("strides [-9223372036854775808, 1]"));
  CHECK_THROWS_WITH(as_strided(a, {2}, {1}, kMost), Contains("offset 9223372036854775807"));
  CHECK_THROWS_WITH(as_strided(a, {2}, {1}, kLeast), Contains("offset -9223372036854775808"));
  CHECK_THROWS_WITH(as_strided(a, {kMost, kMost}, {0, 0}, 0), Contains("sizes [9223372036854775807, 92233720"));
  const Tensor far = as_strided(a, {1, 2}, {std::int64_t{1} << 56, 1}, 0);
  CHECK(to_vector<std::int64_t>(add(narrow(far, 0, 0, 1), unsqueeze(far, 0))) == std::vector<std::int64_t>{0, 2});
  CHECK(narrow(far, 0, 1, 0).numel() == 0);
  const Tensor nothing = as_strided(a, {0, 4}, {kMost, kMost}, kMost);
  CHECK(narrow(nothing, 1, 2, 2).sizes() == Dims{0, 2});
  CHECK(select(unsqueeze(nothing, 1), 2, 3).sizes() == Dims{0, 1});
  CHECK(sum(nothing, {0}).sizes() == Dims{4});
}

TEST_CASE("joining tensors to more elements than the limit is refused") {
  const Tensor nothing = expand(zeros({0, 1}), {0, kHalf}), endless = expand(ones({1}), {kHalf});
  CHECK_THROWS_WITH(cat({nothing, nothing}, 1),
                    Contains("sizes 4611686018427387904 and 4611686018427387904 overflow in sum"));
  CHECK_THROWS_WITH(cat({endless, endless}), Contains("cat: sizes 4611686018427387904"));
  CHECK_THROWS_WITH(stack({endless, endless}), Contains("[2, 4611686018427387904]"));
  CHECK_THROWS_WITH(add(endless, ones({1})), Contains("4611686018427387904 float32 elements has too many bytes"));
}

TEST_CASE("a bias does not broadcast the tensor that it is added to") {
  const Tensor x = ones({1, 3}), weight = ones({2, 3});
  CHECK(linear(x, weight, ones({})).sizes() == Dims{1, 2});
  CHECK_THROWS_WITH(linear(x, weight, ones({4, 2})), Contains("cannot be expanded to the result's sizes [1, 2]"));
  CHECK_THROWS_WITH(linear(x, weight, ones({2}, {DType::F64})), Contains("same dtype"));
  CHECK_THROWS_WITH(linear(x, weight, sparse_coo(zeros({1, 1}, {DType::I64}), ones({1}), {2})), Contains("sparse"));
}

TEST_CASE("gradients of bags must fit the table and the indices") {
  const Bags bags{two_rows(), two_rows(), BagMode::Sum, ones({2})};
  CHECK_THROWS_WITH(embedding_bag_weights_gradient(ones({2, 1}), ones({2, 3}), bags), Contains("as wide as the table"));
  CHECK_THROWS_WITH(embedding_bag_gradient(square(), bags, 1), Contains("index 1 is out of range for 1 rows"));
  CHECK_THROWS_WITH(embedding_bag_gradient(square(), bags, kLeast), Contains("is out of range"));
  Bags odd = bags;
  odd.weights = sparse_coo(zeros({1, 1}, {DType::I64}), ones({1}), {2});
  CHECK_THROWS_WITH(embedding_bag(square(), odd), Contains("embedding_bag: sparse tensors are not supported"));
}

}  // namespace distrun::tensor
