#pragma once
// Tensors that share the bytes and the version of another. None of these functions waits or copies; reshape.hpp copies
// where necessary.
#include <optional>

#include <distrun/runtime/tensor/core/tensor.hpp>

namespace distrun::tensor::plain {

// Returns another shape of the same bytes. Throws Error{InvalidArgument} if it reaches beyond the storage.
Tensor as_strided(const Tensor& base, Dims sizes, Dims strides, std::int64_t offset);
// Returns a tensor with the same bytes, version and shape, but no gradient: detach(). Also for sparse tensors.
Tensor alias(const Tensor& tensor);

// Returns the same elements in the same order; one size may be -1. Throws Error{InvalidArgument} if the strides do not
// allow it.
Tensor view(const Tensor& tensor, const Dims& sizes);
// Returns nothing if the strides do not allow it. `op` is the operator's name for error texts.
std::optional<Tensor> view_if_possible(const char* op, const Tensor& tensor, const Dims& sizes);
// Repeats dimensions of size 1 without using memory. -1 keeps a size.
Tensor expand(const Tensor& tensor, const Dims& sizes);

Tensor transpose(const Tensor& tensor, std::int64_t a, std::int64_t b);  // swaps two dimensions
Tensor t(const Tensor& tensor);                            // matrices only; fewer dimensions stay as they are
Tensor permute(const Tensor& tensor, const Dims& order);   // dimension i is the former order[i]
Tensor unsqueeze(const Tensor& tensor, std::int64_t dim);  // adds a dimension of size 1
Tensor squeeze(const Tensor& tensor, std::int64_t dim);    // returns the tensor itself unless that size is 1

// Returns elements start .. start + length - 1 of a dimension. Throws Error{InvalidArgument} if it has fewer.
Tensor narrow(const Tensor& tensor, std::int64_t dim, std::int64_t start, std::int64_t length);
// Removes the dimension; -1 is the last.
Tensor select_view(const Tensor& tensor, std::int64_t dim, std::int64_t index);
// Splits into pieces of `size`; the last may be smaller.
TensorList split(const Tensor& tensor, std::int64_t size, std::int64_t dim = 0);
TensorList split(const Tensor& tensor, const Dims& sizes, std::int64_t dim = 0);

}  // namespace distrun::tensor::plain
