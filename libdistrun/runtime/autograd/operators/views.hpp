#pragma once
// Views for users: they share the bytes of their base, so an in-place change of one changes the other, for gradients
// too. See <distrun/runtime/tensor/core/views.hpp>.
#include <distrun/runtime/tensor/core/tensor.hpp>

namespace distrun {

// These throw Error{InvalidArgument} for dimensions and sizes that the tensor does not have.
Tensor view(const Tensor& tensor, const Dims& sizes);     // the same elements in the same order; one size may be -1
Tensor reshape(const Tensor& tensor, const Dims& sizes);  // a copy if no view is possible
// joins the dimensions first to last
Tensor flatten(const Tensor& tensor, std::int64_t first = 0, std::int64_t last = -1);
// repeats dimensions of size 1 without using memory; -1 keeps a size
Tensor expand(const Tensor& tensor, const Dims& sizes);
Tensor transpose(const Tensor& tensor, std::int64_t a, std::int64_t b);  // swaps two dimensions
Tensor t(const Tensor& tensor);                               // transposes a matrix; fewer dimensions stay as they are
Tensor permute(const Tensor& tensor, const Dims& order);      // dimension i is the former order[i]
Tensor unsqueeze(const Tensor& tensor, std::int64_t dim);     // adds a dimension of size 1
Tensor squeeze(const Tensor& tensor, std::int64_t dim);       // removes a dimension if its size is 1
Tensor squeeze(const Tensor& tensor);                         // all dimensions of size 1
Tensor expand_as(const Tensor& tensor, const Tensor& other);  // expand() to the sizes of `other`
Tensor view_as(const Tensor& tensor, const Tensor& other);    // view() with the sizes of `other`
// elements start .. start + length - 1 of a dimension
Tensor narrow(const Tensor& tensor, std::int64_t dim, std::int64_t start, std::int64_t length);
// one slice, without the dimension; a negative index counts from the end
Tensor select(const Tensor& tensor, std::int64_t dim, std::int64_t index);
// Splits into pieces of `size`, the last of which may be smaller; or of these sizes, which add up to the dimension's.
TensorList split(const Tensor& tensor, std::int64_t size, std::int64_t dim = 0);
TensorList split(const Tensor& tensor, const Dims& sizes, std::int64_t dim = 0);
// Returns `chunks` parts of one size, the last of which may be smaller; fewer if the dimension is too short.
TensorList chunk(const Tensor& tensor, std::int64_t chunks, std::int64_t dim = 0);
// Returns select() for each index of the dimension.
TensorList unbind(const Tensor& tensor, std::int64_t dim = 0);

}  // namespace distrun
