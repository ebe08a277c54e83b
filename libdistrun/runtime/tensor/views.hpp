#pragma once
// Tensors that share the bytes of another, and its version. None of these waits or copies, but for reshape().
#include <distrun/runtime/tensor/tensor.hpp>

namespace distrun::tensor::plain {

// Another shape of the same bytes. Throws Error{InvalidArgument} if it reaches beyond the storage.
Tensor as_strided(const Tensor& base, Dims sizes, Dims strides, std::int64_t offset);
// A tensor with the same bytes, version and shape and no gradient: detach(). Sparse ones too.
Tensor alias(const Tensor& tensor);

// The same elements in the same order; one size may be -1. Throws Error{InvalidArgument} if the strides can't have it.
Tensor view(const Tensor& tensor, const Dims& sizes);
// A view if that is possible, else a copy.
Tensor reshape(const Tensor& tensor, const Dims& sizes);
Tensor flatten(const Tensor& tensor, std::int64_t first = 0, std::int64_t last = -1);
// Repeats what has size 1, without memory for it. -1 leaves a size as it is.
Tensor expand(const Tensor& tensor, const Dims& sizes);

Tensor transpose(const Tensor& tensor, std::int64_t a, std::int64_t b);
Tensor t(const Tensor& tensor);  // of a matrix; fewer dimensions stay as they are
Tensor permute(const Tensor& tensor, const Dims& order);
Tensor unsqueeze(const Tensor& tensor, std::int64_t dim);
Tensor squeeze(const Tensor& tensor, std::int64_t dim);  // itself unless that size is 1

Tensor narrow(const Tensor& tensor, std::int64_t dim, std::int64_t start, std::int64_t length);
// Without that dimension; -1 is the last. Of a sparse one it is no view, but select_sparse().
Tensor select(const Tensor& tensor, std::int64_t dim, std::int64_t index);
// Pieces of `size`, the last may be smaller.
TensorList split(const Tensor& tensor, std::int64_t size, std::int64_t dim = 0);
TensorList split(const Tensor& tensor, const Dims& sizes, std::int64_t dim = 0);

}  // namespace distrun::tensor::plain
