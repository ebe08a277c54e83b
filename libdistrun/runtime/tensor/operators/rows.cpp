#include <distrun/runtime/tensor/operators/rows.hpp>

#include <cstring>

#include <distrun/runtime/tensor/core/copy.hpp>
#include <distrun/runtime/tensor/core/factories.hpp>
#include <distrun/runtime/tensor/core/launch.hpp>
#include <distrun/runtime/tensor/core/pointwise.hpp>
#include <distrun/runtime/tensor/core/shape.hpp>
#include <distrun/runtime/tensor/kernels/instruction_set.hpp>
#include <distrun/runtime/tensor/operators/index_numbers.hpp>

namespace distrun::tensor {
namespace {

std::int64_t row_elements(const Tensor& tensor) { return count_of(Dims(tensor.sizes().span().subspan(1))); }

kernels::Run add_of(const Tensor& tensor) {
  return kernels::table().binary->run[static_cast<int>(kernels::Binary::Add)][static_cast<int>(tensor.dtype())];
}

}  // namespace

Tensor take_rows(const Tensor& tensor, const Tensor& numbers) {
  const Tensor from = contiguous(tensor);
  Dims sizes = from.sizes();
  sizes[0] = numbers.numel();
  const Tensor out = empty(sizes, from.options());
  if (out.numel() == 0) return out;
  const auto row_bytes = static_cast<std::size_t>(row_elements(from)) * size_of(from.dtype());
  launch("take_rows", std::array{writes(out), reads(from), reads(contiguous(numbers))},
         [row_bytes, count = numbers.numel()](Addresses data) {
           const auto* number = reinterpret_cast<const std::int64_t*>(data[2]);
           for (std::int64_t i = 0; i < count; ++i) {
             std::memcpy(data[0] + static_cast<std::size_t>(i) * row_bytes,
                         data[1] + static_cast<std::size_t>(number[i]) * row_bytes, row_bytes);
           }
         });
  return out;
}

void add_rows_(const Tensor& tensor, const Tensor& numbers, const Tensor& values, const Scalar& alpha) {
  if (values.numel() == 0) return;
  const kernels::Run add = add_of(tensor);
  const std::int64_t elements = row_elements(values);
  const auto element_bytes = static_cast<std::int64_t>(size_of(tensor.dtype()));
  const Constant factor(alpha, tensor.dtype());
  const Tensor rows = contiguous(values), order = contiguous(numbers);
  launch("add_rows", std::array{updates(tensor), reads(order), reads(rows)},
         [add, elements, element_bytes, factor, count = order.numel()](Addresses data) {
           const auto* number = reinterpret_cast<const std::int64_t*>(data[1]);
           const std::int64_t strides[] = {element_bytes, element_bytes, element_bytes};
           for (std::int64_t i = 0; i < count; ++i) {
             std::byte* out = data[0] + number[i] * elements * element_bytes;
             std::byte* const all[] = {out, out, data[2] + i * elements * element_bytes};
             add(all, {strides, elements}, {}, factor.address());
           }
         });
}

void add_taken_rows_(const Tensor& tensor, const Tensor& to, const Tensor& values, const Tensor& from,
                     const Tensor& factors) {
  const std::int64_t elements = row_elements(values), count = to.numel();
  if (elements == 0 || count == 0) return;
  const kernels::Run add = add_of(tensor);
  const auto element_bytes = static_cast<std::int64_t>(size_of(tensor.dtype()));
  const bool has_factors = factors.defined();
  const Constant one(1, tensor.dtype());
  const Tensor all = contiguous(values), to_all = contiguous(to), from_all = contiguous(from);
  const Tensor factor_each = has_factors ? contiguous(factors) : all;
  launch("add_taken_rows", std::array{updates(tensor), reads(to_all), reads(all), reads(from_all), reads(factor_each)},
         [add, elements, element_bytes, count, has_factors, one](Addresses data) {
           const auto* target = reinterpret_cast<const std::int64_t*>(data[1]);
           const auto* source = reinterpret_cast<const std::int64_t*>(data[3]);
           const std::int64_t strides[] = {element_bytes, element_bytes, element_bytes};
           for (std::int64_t i = 0; i < count; ++i) {
             std::byte* out = data[0] + target[i] * elements * element_bytes;
             std::byte* const rows[] = {out, out, data[2] + source[i] * elements * element_bytes};
             add(rows, {strides, elements}, {}, has_factors ? data[4] + i * element_bytes : one.address());
           }
         });
}

void check_rows(const char* op, const Tensor& numbers, std::int64_t count) {
  const std::optional<std::int64_t> number = out_of_range(numbers, count);
  if (!number) return;
  refuse(op, "index " + std::to_string(*number) + " is out of range for " + std::to_string(count) + " rows", {});
}

}  // namespace distrun::tensor
