#include <distrun/runtime/tensor/core/reshape.hpp>

#include <optional>

#include <distrun/runtime/tensor/core/copy.hpp>
#include <distrun/runtime/tensor/core/shape.hpp>
#include <distrun/runtime/tensor/core/views.hpp>

namespace distrun::tensor::plain {

Tensor reshape(const Tensor& tensor, const Dims& wanted) {
  std::optional<Tensor> result = view_if_possible("reshape", tensor, wanted);
  return result ? *std::move(result) : view(clone(tensor), wanted);
}

Tensor flatten(const Tensor& tensor, std::int64_t first, std::int64_t last) {
  const Dims& sizes = tensor.strided().sizes;
  const std::size_t from = wrap_dim("flatten", first, sizes.size());
  const std::size_t until = wrap_dim("flatten", last, sizes.size());
  if (sizes.empty()) return reshape(tensor, {1});
  if (from > until) refuse("flatten", "the first dimension comes after the last", {&tensor});
  Dims flat(sizes.span().first(from));
  flat.push_back(device::count_of(Dims(sizes.span().subspan(from, until - from + 1))));
  for (std::size_t i = until + 1; i < sizes.size(); ++i) flat.push_back(sizes[i]);
  return reshape(tensor, flat);
}

}  // namespace distrun::tensor::plain
