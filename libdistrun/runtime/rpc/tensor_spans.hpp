#pragma once
// The memory behind the tensors of a message, as it travels: each stretch once, however many tensors look into it. A
// view of much more than it shows is copied first, so that a column of a large matrix costs a column; unless others of
// the message look into the same memory.
#include <cstdint>
#include <vector>

#include <distrun/runtime/autograd/inline_vector.hpp>
#include <distrun/runtime/tensor/core/tensor.hpp>

namespace distrun::rpc {

// Bytes [begin, end) of a storage.
struct Span {
  tensor::Ref<tensor::Storage> storage;
  std::size_t begin = 0;
  std::size_t end = 0;
  std::size_t bytes() const noexcept { return end - begin; }
  std::byte* data() const noexcept { return storage->data() + begin; }
};

// A strided tensor without its memory.
struct TensorShape {
  tensor::DType dtype{};
  bool contiguous = true;  // and at the beginning of the span, all of it: strides and offset mean nothing then
  std::uint32_t span = 0;
  std::int64_t offset = 0;  // in elements, from the span's first byte
  Dims sizes;
  Dims strides;
};

// Of one or two tensors nearly always.
struct TensorSpans {
  using Spans = autograd::InlineVector<Span, 2>;
  Spans spans;
  autograd::InlineVector<TensorShape, 2> shapes;
};

// Of strided tensors; throws Error{InvalidArgument} for others.
TensorSpans spans_of(const TensorList& tensors);
// The tensor of that shape in that memory. Throws Error{InvalidArgument} if it reaches beyond.
Tensor tensor_in(const tensor::Ref<tensor::Storage>& storage, const TensorShape& shape);

}  // namespace distrun::rpc
