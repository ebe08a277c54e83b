#include <distrun/runtime/tensor/operators/index_numbers.hpp>

#include <algorithm>

#include <distrun/runtime/tensor/core/copy.hpp>
#include <distrun/runtime/tensor/core/shape.hpp>
#include <distrun/runtime/tensor/core/views.hpp>
#include <distrun/runtime/tensor/kernels/instruction_set.hpp>
#include <distrun/runtime/tensor/kernels/lines.hpp>

namespace distrun::tensor {

std::optional<std::int64_t> out_of_range(const Tensor& numbers, std::int64_t size) {
  size = std::max<std::int64_t>(size, 0);  // for negative sizes nothing is in range either
  const Tensor here = contiguous(to(numbers, device::kCpu));
  const auto* const begin = here.data_as<std::int64_t>();
  const std::int64_t count = here.numel();
  const auto is_out = [size](std::int64_t number) {
    return static_cast<std::uint64_t>(number) >= static_cast<std::uint64_t>(size);
  };
  if (kernels::table().extremes->are_in_range(begin, count, size)) return std::nullopt;
  return *std::find_if(begin, begin + count, is_out);
}

void check_numbers(const char* op, const Tensor& numbers, std::size_t dim, std::int64_t size) {
  const std::optional<std::int64_t> number = out_of_range(numbers, size);
  if (!number) return;
  refuse(op,
         "index " + std::to_string(*number) + " is out of bounds for dimension " + std::to_string(dim) + " with size " +
             std::to_string(size),
         {});
}

std::size_t check_index(const char* op, const Tensor& x, std::int64_t dim, const Tensor& index) {
  check_defined(op, {&x, &index});
  check_dense(op, {&x, &index});
  check_same_device(op, {&x, &index});
  if (index.dtype() != DType::I64) refuse(op, "the index must be int64", {&index});
  return wrap_dim(op, dim, x.sizes().size());
}

void check_source(const char* op, const Tensor& x, const Tensor& source) {
  check_defined(op, {&source});
  check_dense(op, {&source});
  check_same_device(op, {&x, &source});
  check_same_dtype(op, x, source);
}

Tensor unshared(const Tensor& tensor, const Tensor& x) {
  return tensor.strided().storage() == x.strided().storage() ? clone(tensor) : tensor;
}

Tensor with_a_dimension(const Tensor& tensor) { return tensor.dim() == 0 ? unsqueeze(tensor, 0) : tensor; }

}  // namespace distrun::tensor
