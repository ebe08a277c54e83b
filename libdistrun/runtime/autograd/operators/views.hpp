#pragma once
// Views for users: they share the bytes of their base, so an in-place change of one changes the other, for gradients
// too. See <distrun/runtime/tensor/core/views.hpp>.
#include <distrun/runtime/tensor/core/tensor.hpp>

namespace distrun {

Tensor view(const Tensor& tensor, const Dims& sizes);
Tensor reshape(const Tensor& tensor, const Dims& sizes);  // a copy if no view is possible
Tensor flatten(const Tensor& tensor, std::int64_t first = 0, std::int64_t last = -1);
Tensor expand(const Tensor& tensor, const Dims& sizes);
Tensor transpose(const Tensor& tensor, std::int64_t a, std::int64_t b);
Tensor t(const Tensor& tensor);
Tensor permute(const Tensor& tensor, const Dims& order);
Tensor unsqueeze(const Tensor& tensor, std::int64_t dim);
Tensor squeeze(const Tensor& tensor, std::int64_t dim);
Tensor squeeze(const Tensor& tensor);  // all dimensions of size 1
Tensor expand_as(const Tensor& tensor, const Tensor& other);
Tensor view_as(const Tensor& tensor, const Tensor& other);
Tensor narrow(const Tensor& tensor, std::int64_t dim, std::int64_t start, std::int64_t length);
Tensor select(const Tensor& tensor, std::int64_t dim, std::int64_t index);
TensorList split(const Tensor& tensor, std::int64_t size, std::int64_t dim = 0);
TensorList split(const Tensor& tensor, const Dims& sizes, std::int64_t dim = 0);
// Returns `chunks` parts of one size, the last of which may be smaller; fewer if the dimension is too short.
TensorList chunk(const Tensor& tensor, std::int64_t chunks, std::int64_t dim = 0);
// Returns select() for each index of the dimension.
TensorList unbind(const Tensor& tensor, std::int64_t dim = 0);

}  // namespace distrun
