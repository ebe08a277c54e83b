// Tensors arrive unchanged and belong to the receiver.
#include <catch2/catch.hpp>

#include <distrun/common/base/thread.hpp>
#include <distrun/runtime/tensor/closeness.hpp>
#include <distrun/runtime/tensor/ops.hpp>

#include "agent_contract.hpp"
#include "support/error_of.hpp"

namespace distrun::rpc::testing {
namespace {

// Sends the tensors and returns what has arrived.
TensorList carried(World& world, const TensorList& tensors) {
  const std::size_t before = world[1].inbox().count();
  world[0].send(1, message_of(before + 1, 20, tensors));
  REQUIRE(world[1].inbox().wait_messages(before + 1));
  auto got = world[1].inbox().take();
  REQUIRE(got.size() == 1);
  CHECK(what_is_wrong(got[0].message, before + 1, 20) == "");
  REQUIRE(got[0].message.tensors.size() == tensors.size());
  return std::move(got[0].message.tensors);
}

void check_same(const Tensor& got, const Tensor& sent) {
  const auto differs = tensor::difference(got, sent);
  INFO((differs ? *differs : "the same"));
  CHECK_FALSE(differs);
}

Tensor numbers(std::int64_t count, DType dtype = DType::F32) { return tensor::to(tensor::arange(count), dtype); }

}  // namespace

TEST_CASE("tensors of every dtype arrive unchanged") {
  World world(2);
  for (int i = 0; i < tensor::kDTypeCount; ++i) {
    const auto dtype = static_cast<DType>(i);
    INFO(tensor::name_of(dtype));
    const TensorList sent = {tensor::view(numbers(60, dtype), {3, 4, 5}),
                             numbers(1, dtype),
                             tensor::full({}, 3, {dtype}),
                             tensor::empty({0}, {dtype}),
                             tensor::empty({0, 0}, {dtype}),
                             tensor::empty({3, 0, 2}, {dtype})};
    const TensorList got = carried(world, sent);
    for (std::size_t k = 0; k < sent.size(); ++k) check_same(got[k], sent[k]);
  }
}

TEST_CASE("tensors of many sizes arrive, alone and together") {
  World world(2);
  TensorList all;
  for (const std::int64_t count : {1, 7, 1000, 16 << 10, 16'385, 70'000, 1 << 20, 1'310'720}) {
    all.push_back(numbers(count));
    check_same(carried(world, {all.back()})[0], all.back());
  }
  const TensorList got = carried(world, all);
  for (std::size_t k = 0; k < all.size(); ++k) check_same(got[k], all[k]);
}

TEST_CASE("a tensor of 64 MiB arrives") {
  World world(2);
  const Tensor sent = numbers(16 << 20);
  check_same(carried(world, {sent})[0], sent);
}

TEST_CASE("tensors that are not contiguous arrive with their elements") {
  World world(2);
  const Tensor base = tensor::view(numbers(10'000), {100, 100});
  const TensorList sent = {tensor::transpose(base, 0, 1), tensor::narrow(base, 1, 10, 5),
                           tensor::expand(numbers(1), {50, 3}), tensor::as_strided(base, {10, 10}, {3, 2}, 7)};
  const TensorList got = carried(world, sent);
  for (std::size_t k = 0; k < sent.size(); ++k) check_same(got[k], sent[k]);
}

TEST_CASE("a view of a large tensor arrives, at any offset") {
  World world(2);
  const Tensor base = numbers(4 << 20);
  const TensorList sent = {tensor::narrow(base, 0, 0, 3), tensor::narrow(base, 0, 1'234'567, 1000),
                           tensor::narrow(base, 0, (4 << 20) - 1, 1)};
  const TensorList got = carried(world, sent);
  for (std::size_t k = 0; k < sent.size(); ++k) check_same(got[k], sent[k]);
}

TEST_CASE("tensors of a message that share their bytes still do on arrival") {
  World world(2);
  const Tensor base = numbers(10'000);
  const TensorList sent = {base, base, tensor::narrow(base, 0, 0, 5000), tensor::narrow(base, 0, 2500, 5000)};
  const TensorList got = carried(world, sent);
  for (std::size_t k = 0; k < sent.size(); ++k) check_same(got[k], sent[k]);
  tensor::copy_(got[0], tensor::zeros({10'000}));
  check_same(got[3], tensor::zeros({5000}));
}

TEST_CASE("later changes of tensors by sender and receiver do not affect the other") {
  World world(2);
  const std::int64_t count = GENERATE(4, 1000, 100'000, 2'000'000);
  const Tensor sent = numbers(count), kept = tensor::clone(sent);
  const Tensor got = carried(world, {sent})[0];
  // The sender learns by an answer that its tensor was read: a sanitizer does not see what orders two workers of one
  // process that share memory by two mappings.
  world[1].send(0, message_of(2, 0));
  REQUIRE(world[0].inbox().wait_messages(1));
  tensor::copy_(got, tensor::zeros({count}));
  check_same(sent, kept);
  tensor::copy_(sent, tensor::ones({count}));
  check_same(got, tensor::zeros({count}));
}

TEST_CASE("a message keeps its tensors when the sender releases them") {
  World world(2);
  world[1].inbox().hold();
  base::Thread first("first", [&world] { world[0].send(1, message_of(1, 0)); });
  REQUIRE(world[1].inbox().wait_held());
  for (std::uint64_t id = 2; id <= 40; ++id) world[0].send(1, message_of(id, 0, {numbers(100'000)}));
  world[1].inbox().let_go();
  REQUIRE(world[1].inbox().wait_messages(40));
  const auto got = world[1].inbox().take();
  const Tensor expected = numbers(100'000);
  for (std::size_t k = 1; k < got.size(); ++k) check_same(got[k].message.tensors[0], expected);
}

TEST_CASE("tensors without bytes are refused, and no part of the message is sent") {
  World world(2);
  const Tensor sparse = tensor::sparse_coo(tensor::zeros({1, 1}, {DType::I64}), tensor::ones({1}), {3});
  for (const Tensor& tensor : {sparse, Tensor()}) {
    const auto send = [&] { world[0].send(1, message_of(1, 10, {numbers(5), tensor})); };
    CHECK(distrun::testing::error_of(send).kind() == ErrorKind::InvalidArgument);
  }
  check_same(carried(world, {numbers(5)})[0], numbers(5));
  CHECK(world[1].inbox().count() == 1);
}

TEST_CASE("messages with many tensors arrive") {
  World world(2);
  TensorList sent;
  for (std::int64_t i = 0; i < 500; ++i) sent.push_back(numbers(i % 40));
  const TensorList got = carried(world, sent);
  for (std::size_t k = 0; k < sent.size(); ++k) check_same(got[k], sent[k]);
}

}  // namespace distrun::rpc::testing
