// The memory of tensors as it is sent, and copies of messages.
#include <catch2/catch.hpp>

#include <algorithm>
#include <cstring>
#include <limits>

#include <distrun/common/base/error.hpp>
#include <distrun/runtime/rpc/message.hpp>
#include <distrun/runtime/rpc/tensor_spans.hpp>
#include <distrun/runtime/tensor/core/copy.hpp>
#include <distrun/runtime/tensor/core/factories.hpp>
#include <distrun/runtime/tensor/core/views.hpp>
#include <distrun/runtime/tensor/sparse/sparse.hpp>

#include "support/gpus.hpp"

namespace distrun::rpc {
namespace {

Tensor numbers(std::int64_t count) { return tensor::arange(count); }
Tensor matrix(std::int64_t rows, std::int64_t columns) {
  return tensor::view(numbers(rows * columns), {rows, columns});
}

std::size_t bytes_of(const TensorSpans& spans) {
  std::size_t bytes = 0;
  for (const Span& each : spans.spans) bytes += each.bytes();
  return bytes;
}

// Returns the tensors after conversion to bytes and back.
TensorList travelled(const TensorList& tensors) {
  const TensorSpans spans = spans_of(tensors);
  std::vector<tensor::Ref<tensor::Storage>> there;
  for (const Span& each : spans.spans) {
    there.push_back(tensor::Storage::make(device::kCpu, each.bytes()));
    std::copy_n(each.data(), each.bytes(), there.back()->data());
  }
  TensorList made;
  for (const TensorShape& shape : spans.shapes) made.push_back(tensor_in(there.at(shape.span), shape));
  return made;
}

bool have_equal_elements(const Tensor& a, const Tensor& b) {
  return a.dtype() == b.dtype() && a.sizes() == b.sizes() &&
         tensor::to_vector<std::int64_t>(a) == tensor::to_vector<std::int64_t>(b);
}
bool share(const Tensor& a, const Tensor& b) { return a.strided().storage() == b.strided().storage(); }

TEST_CASE("tensors keep their elements, sizes and strides") {
  const Tensor base = matrix(6, 8);
  const TensorList all{base,
                       tensor::transpose(base, 0, 1),
                       tensor::narrow(base, 1, 3, 2),
                       tensor::narrow(base, 0, 2, 2),
                       tensor::expand(numbers(1), {5}),
                       tensor::as_strided(base, {3, 3}, {9, 1}, 5),
                       tensor::select_view(tensor::select_view(base, 0, 3), 0, 4)};
  for (const Tensor& each : all) {
    const Tensor back = travelled({each})[0];
    INFO(tensor::describe(each));
    CHECK(have_equal_elements(back, each));
    CHECK(back.strides() == each.strides());
  }
  const TensorList together = travelled(all);
  for (std::size_t i = 0; i < all.size(); ++i) {
    CHECK(have_equal_elements(together[i], all[i]));
    CHECK(together[i].strides() == all[i].strides());
    if (i != 4) CHECK(share(together[i], together[0]));
  }
}

TEST_CASE("elements of each size are aligned") {
  for (const auto dtype : {tensor::DType::U8, tensor::DType::I16, tensor::DType::F32, tensor::DType::F64}) {
    const Tensor base = tensor::to(numbers(40), dtype);
    for (const std::int64_t start : {0, 1, 3, 7, 9}) {
      const Tensor part = tensor::narrow(base, 0, start, 5);
      CHECK(have_equal_elements(tensor::to(travelled({part})[0], tensor::DType::I64),
                                tensor::to(part, tensor::DType::I64)));
      CHECK(bytes_of(spans_of({part})) <= 5 * size_of(dtype) + 7);
    }
  }
}

TEST_CASE("tensors that share memory share it afterwards, and it is sent once") {
  const Tensor base = numbers(100);
  const TensorList views{tensor::narrow(base, 0, 0, 60), tensor::narrow(base, 0, 40, 60), base};
  CHECK(bytes_of(spans_of(views)) == 800);
  const TensorList back = travelled(views);
  back[0].data_as<std::int64_t>()[50] = -1;
  CHECK(back[1].data_as<std::int64_t>()[10] == -1);
  CHECK(back[2].data_as<std::int64_t>()[50] == -1);
}

TEST_CASE("a small part of a large tensor costs only its elements") {
  const Tensor base = matrix(100, 100);
  CHECK(bytes_of(spans_of({tensor::select_view(base, 0, 50)})) == 800);
  CHECK(bytes_of(spans_of({tensor::select_view(base, 1, 50)})) == 800);
  CHECK(have_equal_elements(travelled({tensor::select_view(base, 1, 50)})[0], tensor::select_view(base, 1, 50)));
  CHECK(bytes_of(spans_of({tensor::narrow(base, 1, 0, 90)})) > 72'000);
}

TEST_CASE("a small part of a large tensor that is sent, too, still shares its memory") {
  const Tensor base = matrix(100, 100), column = tensor::select_view(base, 1, 50);
  for (const bool base_first : {true, false}) {
    const TensorList sent = base_first ? TensorList{base, column} : TensorList{column, base};
    CHECK(bytes_of(spans_of(sent)) == 80'000);
    const TensorList back = travelled(sent);
    CHECK(share(back[0], back[1]));
    CHECK(have_equal_elements(back[0], sent[0]));
    CHECK(have_equal_elements(back[1], sent[1]));
  }
  const TensorList twice = travelled({column, tensor::alias(column)});
  CHECK(share(twice[0], twice[1]));
}

TEST_CASE("tensors without elements have their sizes and no memory") {
  const Tensor base = numbers(20);
  const TensorList all{tensor::zeros({0}), tensor::zeros({0, 0}), tensor::zeros({3, 0, 2}),
                       tensor::narrow(base, 0, 20, 0)};
  CHECK(bytes_of(spans_of(all)) == 0);
  const TensorList back = travelled(all);
  for (std::size_t i = 0; i < all.size(); ++i) CHECK(back[i].sizes() == all[i].sizes());
  const TensorList beside = travelled({tensor::narrow(base, 0, 20, 0), base});
  CHECK(beside[0].numel() == 0);
  CHECK(have_equal_elements(beside[1], base));
}

TEST_CASE("many tensors are distinguished by their memory") {
  TensorList all;
  for (int i = 0; i < 200; ++i) all.push_back(tensor::full({2}, i, {tensor::DType::I64, device::kCpu}));
  for (int i = 0; i < 200; ++i) all.push_back(tensor::alias(all[static_cast<std::size_t>(i)]));
  CHECK(spans_of(all).spans.size() == 200);
  const TensorList back = travelled(all);
  for (std::size_t i = 0; i < 200; ++i) {
    CHECK(have_equal_elements(back[i], all[i]));
    CHECK(share(back[i], back[i + 200]));
  }
}

TEST_CASE("sparse and undefined tensors have no memory") {
  CHECK_THROWS_AS(spans_of({tensor::empty_sparse({2}, {}, 1)}), Error);
  CHECK_THROWS_AS(spans_of({Tensor()}), Error);
}

TensorShape shape_of(const Dims& sizes, const Dims& strides, std::int64_t offset) {
  TensorShape shape;
  shape.dtype = tensor::DType::I64;
  shape.contiguous = false;
  shape.sizes = sizes;
  shape.strides = strides;
  shape.offset = offset;
  return shape;
}

TEST_CASE("a shape that reaches beyond its memory is refused, with any numbers") {
  const auto memory = tensor::Storage::make(device::kCpu, 80);
  constexpr auto kMost = std::numeric_limits<std::int64_t>::max(), kLeast = std::numeric_limits<std::int64_t>::min();
  CHECK_NOTHROW(tensor_in(memory, shape_of({10}, {1}, 0)));
  CHECK_NOTHROW(tensor_in(memory, shape_of({3}, {-4}, 8)));
  for (const TensorShape& bad :
       {shape_of({11}, {1}, 0), shape_of({10}, {1}, 1), shape_of({2}, {10}, 0), shape_of({3}, {-4}, 7),
        shape_of({1}, {1}, -1), shape_of({1}, {1}, 10), shape_of({2}, {kMost}, 1), shape_of({kMost}, {kMost}, 0),
        shape_of({2}, {kLeast}, 0), shape_of({1}, {1}, kLeast), shape_of({1}, {1}, kMost), shape_of({-5}, {1}, 8),
        shape_of({-2, -3}, {-3, 1}, 4), shape_of({-1, -1}, {1, 1}, 1000), shape_of({0, -5}, {1, 1}, 0),
        shape_of({kMost, kMost}, {0, 0}, 0), shape_of({0}, {1}, -1), shape_of({2, 2}, {1}, 0)}) {
    INFO(device::to_string(bad.sizes) << device::to_string(bad.strides) << bad.offset);
    CHECK_THROWS_AS(tensor_in(memory, bad), Error);
  }
  for (const Dims& bad : {Dims{11}, Dims{-1}, Dims{-2, -2}, Dims{kMost}, Dims{kMost, kMost}, Dims{0, -1}}) {
    TensorShape shape = shape_of(bad, {}, 0);
    shape.contiguous = true;
    CHECK_THROWS_AS(tensor_in(memory, shape), Error);
  }
}

TEST_CASE("the tensors of a local message are copies, which share what the originals shared") {
  const Tensor base = matrix(4, 4);
  for (const TensorList& sent : {TensorList{base}, TensorList{tensor::transpose(base, 0, 1)},
                                 TensorList{base, tensor::select_view(base, 1, 2), numbers(3), tensor::zeros({0})}}) {
    Message message;
    message.tensors = sent;
    copy_tensors(message);
    REQUIRE(message.tensors.size() == sent.size());
    for (std::size_t i = 0; i < sent.size(); ++i) {
      CHECK(message.tensors[i].sizes() == sent[i].sizes());
      CHECK(message.tensors[i].strides() == sent[i].strides());
      CHECK_FALSE(share(message.tensors[i], sent[i]));
    }
    CHECK(have_equal_elements(message.tensors[0], sent[0]));
    if (sent.size() > 1) CHECK(share(message.tensors[0], message.tensors[1]));
  }
  Message none;
  copy_tensors(none);
  CHECK(none.tensors.empty());
}

TEST_CASE("tensors on a GPU are copied on it") {
  testing::use_gpus();
  const Tensor base = tensor::to(matrix(4, 4), device::cuda(0));
  Message message;
  message.tensors = {base, tensor::select_view(base, 1, 2)};
  copy_tensors(message);
  CHECK(message.tensors[1].device() == device::cuda(0));
  CHECK_FALSE(share(message.tensors[0], base));
  CHECK(have_equal_elements(tensor::to(message.tensors[1], device::kCpu), tensor::select_view(matrix(4, 4), 1, 2)));
}

TEST_CASE("kinds of messages have names") {
  CHECK(std::string(name_of(MessageKind::Call)) == "call");
  CHECK(std::string(name_of(MessageKind::Control)) == "control");
  CHECK(std::string(name_of(static_cast<MessageKind>(77))) == "unknown");
}

}  // namespace
}  // namespace distrun::rpc
