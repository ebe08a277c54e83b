#pragma once
// The memory of a message's tensors as it is sent: each stretch once, however many tensors use it. A view of much more
// memory than its elements is copied first, so that a column of a large matrix costs a column; unless other tensors of
// the message share the memory.
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
  bool contiguous = true;  // and fills the span from its beginning: strides and offset are unused then
  std::uint32_t span = 0;
  std::int64_t offset = 0;  // in elements, from the span's first byte
  Dims sizes;
  Dims strides;
};

// Nearly always one or two.
struct TensorSpans {
  using Spans = autograd::InlineVector<Span, 2>;
  Spans spans;
  autograd::InlineVector<TensorShape, 2> shapes;
};

// Throws Error{InvalidArgument} for tensors that are not strided.
TensorSpans spans_of(const TensorList& tensors);
// Creates the tensor of that shape in that memory. Throws Error{InvalidArgument} if it exceeds the memory.
Tensor tensor_in(const tensor::Ref<tensor::Storage>& storage, const TensorShape& shape);

}  // namespace distrun::rpc
