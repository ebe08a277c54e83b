#pragma once
// Views as users call them: they share the bytes of their base, and a change in place of one is a change of the other,
// for gradients too. <distrun/runtime/tensor/core/views.hpp> says what each does.
#include <distrun/runtime/tensor/core/tensor.hpp>

namespace distrun {

Tensor view(const Tensor& tensor, const Dims& sizes);
Tensor reshape(const Tensor& tensor, const Dims& sizes);  // a copy where no view can be
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
// So many parts of one size, the last of which may be smaller; fewer where the dimension is too short for them.
TensorList chunk(const Tensor& tensor, std::int64_t chunks, std::int64_t dim = 0);
// What select() has for each number.
TensorList unbind(const Tensor& tensor, std::int64_t dim = 0);

}  // namespace distrun
