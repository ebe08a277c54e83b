#pragma once
// Tensors that share the bytes of another, and its version. None of these waits or copies; reshape.hpp has what does
// where it must.
#include <optional>

#include <distrun/runtime/tensor/core/tensor.hpp>

namespace distrun::tensor::plain {

// Another shape of the same bytes. Throws Error{InvalidArgument} if it reaches beyond the storage.
Tensor as_strided(const Tensor& base, Dims sizes, Dims strides, std::int64_t offset);
// A tensor with the same bytes, version and shape and no gradient: detach(). Sparse ones too.
Tensor alias(const Tensor& tensor);

// The same elements in the same order; one size may be -1. Throws Error{InvalidArgument} if the strides can't have it.
Tensor view(const Tensor& tensor, const Dims& sizes);
// None if the strides can't have it. `op` is who asks, for the texts of refusals.
std::optional<Tensor> view_if_possible(const char* op, const Tensor& tensor, const Dims& sizes);
// Repeats what has size 1, without memory for it. -1 leaves a size as it is.
Tensor expand(const Tensor& tensor, const Dims& sizes);

Tensor transpose(const Tensor& tensor, std::int64_t a, std::int64_t b);
Tensor t(const Tensor& tensor);  // of a matrix; fewer dimensions stay as they are
Tensor permute(const Tensor& tensor, const Dims& order);
Tensor unsqueeze(const Tensor& tensor, std::int64_t dim);
Tensor squeeze(const Tensor& tensor, std::int64_t dim);  // itself unless that size is 1

Tensor narrow(const Tensor& tensor, std::int64_t dim, std::int64_t start, std::int64_t length);
// Without that dimension; -1 is the last.
Tensor select_view(const Tensor& tensor, std::int64_t dim, std::int64_t index);
// Pieces of `size`, the last may be smaller.
TensorList split(const Tensor& tensor, std::int64_t size, std::int64_t dim = 0);
TensorList split(const Tensor& tensor, const Dims& sizes, std::int64_t dim = 0);

}  // namespace distrun::tensor::plain
