#include <distrun/runtime/tensor/operators/softmax.hpp>

#include <distrun/runtime/tensor/core/copy.hpp>
#include <distrun/runtime/tensor/core/empty.hpp>
#include <distrun/runtime/tensor/core/launch.hpp>
#include <distrun/runtime/tensor/core/shape.hpp>
#include <distrun/runtime/tensor/kernels/instruction_set.hpp>
#include <distrun/runtime/tensor/operators/around.hpp>

namespace distrun::tensor::plain {
namespace {

std::size_t line_dim(const char* op, const Tensor& input, std::int64_t dim) {
  check_defined(op, {&input});
  check_dense(op, {&input});
  check_floating(op, input);
  return wrap_dim(op, dim, input.sizes().size());
}

std::int64_t element_bytes(const Tensor& tensor) { return static_cast<std::int64_t>(size_of(tensor.dtype())); }

Tensor over_lines(const char* op, kernels::OverLines const (&run)[2], const Tensor& input, std::int64_t dim) {
  const Around lines = around(input.sizes(), line_dim(op, input, dim));
  const Tensor out = empty(input.sizes(), input.options());
  if (out.numel() == 0) return out;
  launch(op, std::array{writes(out), reads(contiguous(input))},
         [run = run[kernels::floating_place(input.dtype())], lines, element = element_bytes(input)](Addresses data) {
           for_parts(lines, [&](std::int64_t first, const kernels::Lines& part) {
             run(data[1] + first * element, data[0] + first * element, part);
           });
         });
  return out;
}

Tensor over_lines_back(const char* op, kernels::OverLinesBack const (&run)[2], const Tensor& gradient,
                       const Tensor& result, std::int64_t dim) {
  const Around lines = around(result.sizes(), line_dim(op, result, dim));
  check_like(op, gradient, result);
  const Tensor out = empty(result.sizes(), result.options());
  if (out.numel() == 0) return out;
  launch(op, std::array{writes(out), reads(contiguous(gradient)), reads(contiguous(result))},
         [run = run[kernels::floating_place(result.dtype())], lines, element = element_bytes(result)](Addresses data) {
           for_parts(lines, [&](std::int64_t first, const kernels::Lines& part) {
             run(data[1] + first * element, data[2] + first * element, data[0] + first * element, part);
           });
         });
  return out;
}

}  // namespace

Tensor softmax(const Tensor& input, std::int64_t dim) {
  return over_lines("softmax", kernels::table().softmax->softmax, input, dim);
}

Tensor softmax_gradient(const Tensor& gradient, const Tensor& result, std::int64_t dim) {
  return over_lines_back("softmax_gradient", kernels::table().softmax->softmax_gradient, gradient, result, dim);
}

Tensor log_softmax(const Tensor& input, std::int64_t dim) {
  return over_lines("log_softmax", kernels::table().softmax->log_softmax, input, dim);
}

Tensor log_softmax_gradient(const Tensor& gradient, const Tensor& result, std::int64_t dim) {
  return over_lines_back("log_softmax_gradient", kernels::table().softmax->log_softmax_gradient, gradient, result, dim);
}

}  // namespace distrun::tensor::plain
