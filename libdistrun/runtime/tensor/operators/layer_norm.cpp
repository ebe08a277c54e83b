#include <distrun/runtime/tensor/operators/layer_norm.hpp>

#include <algorithm>

#include <distrun/runtime/tensor/core/copy.hpp>
#include <distrun/runtime/tensor/core/factories.hpp>
#include <distrun/runtime/tensor/core/launch.hpp>
#include <distrun/runtime/tensor/core/shape.hpp>
#include <distrun/runtime/tensor/kernels/instruction_set.hpp>
#include <distrun/runtime/tensor/kernels/lines.hpp>
#include <distrun/runtime/tensor/operators/around.hpp>

namespace distrun::tensor::plain {
namespace {

constexpr const char* kName = "layer_norm";

// Counts the rows: the product of all dimensions but the last ones.
std::int64_t rows_of(const Tensor& input, const Dims& sizes) {
  const std::size_t leading = input.sizes().size() - sizes.size();
  return device::count_of(Dims(input.sizes().span().first(leading)));
}

void check_row_sizes(const Tensor& input, const Dims& sizes) {
  check_defined(kName, {&input});
  check_dense(kName, {&input});
  check_floating(kName, input);
  const std::span<const std::int64_t> all = input.sizes().span();
  const bool is_end = !sizes.empty() && sizes.size() <= all.size() &&
                      std::equal(sizes.begin(), sizes.end(), all.last(sizes.size()).begin());
  if (!is_end) refuse(kName, "the input's last sizes must be " + to_string(sizes) + ", at least one", {&input});
}

void check_row(const Tensor& input, const Dims& sizes, const Tensor& row) {
  if (!row.defined()) return;
  check_dense(kName, {&row});
  check_same_dtype(kName, input, row);
  check_same_device(kName, {&input, &row});
  if (row.sizes() != sizes) refuse(kName, "weight and bias must have the sizes " + to_string(sizes), {&input, &row});
}

// Returns an operand for an optional tensor.
Tensor or_else(const Tensor& tensor, const Tensor& other) { return tensor.defined() ? contiguous(tensor) : other; }

const std::byte* behind(const void* data, std::int64_t bytes) { return static_cast<const std::byte*>(data) + bytes; }

using RunGradient = void (*)(const kernels::RowNormalizationGradient&);
void run_input_gradient(RunGradient run, const kernels::RowNormalizationGradient& all, std::byte* out,
                        std::int64_t element) {
  for_parts(all.count, all.size, [&](std::int64_t first, std::int64_t count) {
    const std::int64_t row_bytes = first * element, bytes = row_bytes * all.size;
    kernels::RowNormalizationGradient part = all;
    part.count = count;
    part.gradient = behind(all.gradient, bytes);
    part.input = behind(all.input, bytes);
    part.mean = behind(all.mean, row_bytes);
    part.inverse = behind(all.inverse, row_bytes);
    part.of_input = out + bytes;
    run(part);
  });
}
// Adds up each column in the order of rows.
void run_sums(RunGradient run, const kernels::RowNormalizationGradient& all, double* of_weight, double* of_bias) {
  for_parts(all.size, all.count, [&](std::int64_t first, std::int64_t count) {
    kernels::RowNormalizationGradient part = all;
    part.first_column = first;
    part.columns = count;
    part.of_weight = of_weight;
    part.of_bias = of_bias;
    run(part);
  });
}

}  // namespace

LayerNormalized layer_norm(const Tensor& input, const Dims& sizes, const Tensor& weight, const Tensor& bias,
                           double epsilon) {
  check_row_sizes(input, sizes);
  check_row(input, sizes, weight);
  check_row(input, sizes, bias);
  const std::int64_t rows = rows_of(input, sizes);
  const LayerNormalized out{empty(input.sizes(), input.options()), empty({rows}, input.options()),
                            empty({rows}, input.options())};
  if (out.result.numel() == 0) return out;
  const kernels::RowNormalization shape{.count = rows, .size = input.numel() / rows, .epsilon = epsilon};
  const Tensor from = contiguous(input);
  launch(kName,
         std::array{writes(out.result), writes(out.mean), writes(out.inverse), reads(from),
                    reads(or_else(weight, from)), reads(or_else(bias, from))},
         [shape, element = static_cast<std::int64_t>(size_of(input.dtype())),
          run = kernels::table().rows->normalize_rows[kernels::floating_place(input.dtype())],
          has_weight = weight.defined(), has_bias = bias.defined()](Addresses data) {
           for_parts(shape.count, shape.size, [&](std::int64_t first, std::int64_t count) {
             const std::int64_t row_bytes = first * element, bytes = row_bytes * shape.size;
             kernels::RowNormalization part = shape;
             part.count = count;
             part.out = data[0] + bytes;
             part.mean = data[1] + row_bytes;
             part.inverse = data[2] + row_bytes;
             part.input = data[3] + bytes;
             if (has_weight) part.weight = data[4];
             if (has_bias) part.bias = data[5];
             run(part);
           });
         });
  return out;
}

LayerNormGradients layer_norm_gradients(const Tensor& gradient, const Tensor& input, const Tensor& mean,
                                        const Tensor& inverse, const Dims& sizes, const Tensor& weight,
                                        WantedGradients wanted) {
  check_row_sizes(input, sizes);
  check_row(input, sizes, weight);
  check_like(kName, gradient, input);
  const TensorOptions sums{DType::F64, input.device()};
  const Tensor of_input = wanted.input ? empty(input.sizes(), input.options()) : Tensor();
  const bool needs_sums = wanted.weight || wanted.bias;
  const Tensor of_weight = needs_sums ? zeros(sizes, sums) : Tensor();
  const Tensor of_bias = needs_sums ? zeros(sizes, sums) : Tensor();
  if (input.numel() > 0) {
    const Tensor from = contiguous(input);
    const std::int64_t rows = rows_of(input, sizes);
    const kernels::RowNormalizationGradient shape{.count = rows, .size = input.numel() / rows};
    const auto sum = [&](const Tensor& tensor) { return tensor.defined() ? updates(tensor) : reads(from); };
    launch(
        "layer_norm_gradients",
        std::array{wanted.input ? writes(of_input) : reads(from), sum(of_weight), sum(of_bias),
                   reads(contiguous(gradient)), reads(from), reads(mean), reads(inverse), reads(or_else(weight, from))},
        [shape, element = static_cast<std::int64_t>(size_of(input.dtype())),
         run = kernels::table().rows->normalize_rows_gradient[kernels::floating_place(input.dtype())], needs_sums,
         needs_input = wanted.input, has_weight = weight.defined()](Addresses data) {
          kernels::RowNormalizationGradient all = shape;
          all.gradient = data[3];
          all.input = data[4];
          all.mean = data[5];
          all.inverse = data[6];
          if (has_weight) all.weight = data[7];
          if (needs_input) run_input_gradient(run, all, data[0], element);
          if (needs_sums) run_sums(run, all, reinterpret_cast<double*>(data[1]), reinterpret_cast<double*>(data[2]));
        });
  }
  return {of_input, wanted.weight ? to(of_weight, input.dtype()) : Tensor(),
          wanted.bias ? to(of_bias, input.dtype()) : Tensor()};
}

}  // namespace distrun::tensor::plain
