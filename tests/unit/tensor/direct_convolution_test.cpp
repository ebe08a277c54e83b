// Convolutions compared with sums by definition, for all algorithms.
#include <catch2/catch.hpp>

#include <distrun/runtime/tensor/closeness.hpp>
#include <distrun/runtime/tensor/kernels/instruction_set.hpp>
#include <distrun/runtime/tensor/ops.hpp>

namespace distrun::tensor {
namespace {

struct Case {
  Dims input, weight;
  Conv2dOptions options;
};

// Calls body(index in the result, in the input, in the weight) for all products.
template <class Body>
void for_each_product(const Case& of, const Dims& out, Body body) {
  const Dims &x = of.input, &w = of.weight;
  for (std::int64_t n = 0; n < out[0]; ++n)
    for (std::int64_t o = 0; o < out[1]; ++o)
      for (std::int64_t i = 0; i < out[2]; ++i)
        for (std::int64_t j = 0; j < out[3]; ++j)
          for (std::int64_t c = 0; c < w[1]; ++c)
            for (std::int64_t k = 0; k < w[2]; ++k)
              for (std::int64_t l = 0; l < w[3]; ++l) {
                const std::int64_t row = i * of.options.stride[0] + k - of.options.padding[0];
                const std::int64_t column = j * of.options.stride[1] + l - of.options.padding[1];
                if (row < 0 || row >= x[2] || column < 0 || column >= x[3]) continue;
                body(((n * out[1] + o) * out[2] + i) * out[3] + j, ((n * x[1] + c) * x[2] + row) * x[3] + column,
                     ((o * w[1] + c) * w[2] + k) * w[3] + l);
              }
}

void check_near(const Tensor& found, const Tensor& expected) {
  CHECK(difference(to(found, DType::F64), expected, {.tolerance = Tolerance{1e-4, 1e-4}}).value_or("") == "");
}

// The expected results and gradients, in double.
struct Expected {
  Tensor results, of_input, of_weight;
};

struct Operands {
  Tensor input, weight, bias, gradient;
};

Expected expected_of(const Case& of, const Operands& in) {
  const auto as_double = [](const Tensor& tensor) { return to(tensor, DType::F64); };
  const Tensor inputs = as_double(in.input), weights = as_double(in.weight), gradients = as_double(in.gradient);
  const Dims& out = in.gradient.sizes();
  const Expected expected{contiguous(expand(view(as_double(in.bias), {of.weight[0], 1, 1}), out)),
                          zeros(of.input, {DType::F64}), zeros(of.weight, {DType::F64})};
  const double *const x = inputs.data_as<double>(), *const w = weights.data_as<double>(),
                      *const g = gradients.data_as<double>();
  double *const results = expected.results.data_as<double>(), *const of_x = expected.of_input.data_as<double>(),
                *const of_w = expected.of_weight.data_as<double>();
  for_each_product(of, out, [&](std::int64_t at, std::int64_t from, std::int64_t by) {
    results[at] += x[from] * w[by];
    of_x[from] += g[at] * w[by];
    of_w[by] += g[at] * x[from];
  });
  return expected;
}

// Checks with every instruction set of the machine.
void check_case(const Case& of, DType dtype) {
  Generator generator(3);
  const TensorOptions options{dtype, device::kCpu};
  const Tensor x = randn(of.input, options, generator), w = randn(of.weight, options, generator);
  const Tensor bias = randn({of.weight[0]}, options, generator);
  const Tensor g = randn(conv2d(x, w, bias, of.options).sizes(), options, generator);
  const Expected expected = expected_of(of, {x, w, bias, g});
  for (const InstructionSet set : {InstructionSet::Plain, InstructionSet::Avx2, InstructionSet::Avx512}) {
    if (set > best_instruction_set()) continue;
    use_instruction_set(set);
    INFO(name_of(set) << " " << to_string(of.input) << " by " << to_string(of.weight));
    check_near(conv2d(x, w, bias, of.options), expected.results);
    check_near(conv2d_input_gradient(g, w, of.input, of.options), expected.of_input);
    check_near(conv2d_weight_gradient(g, x, of.weight, of.options), expected.of_weight);
  }
  use_instruction_set(best_instruction_set());
}

}  // namespace

TEST_CASE("convolutions of all forms match their definition, with every instruction set") {
  const Case cases[] = {
      {{2, 3, 9, 16}, {8, 3, 3, 3}, {{1, 1}, {1, 1}}},    // rows of whole tiles
      {{2, 5, 7, 7}, {11, 5, 3, 3}, {{1, 1}, {1, 1}}},    // an incomplete panel
      {{1, 4, 14, 13}, {16, 4, 5, 5}, {{1, 1}, {0, 0}}},  // no padding
      {{3, 6, 8, 8}, {8, 6, 1, 1}, {{1, 1}, {0, 0}}},     // the image itself
      {{2, 5, 11, 12}, {8, 5, 3, 3}, {{2, 2}, {1, 1}}},   // strides
      {{2, 3, 12, 10}, {6, 3, 4, 3}, {{3, 2}, {2, 0}}},
      {{1, 2, 6, 40}, {8, 2, 2, 4}, {{1, 3}, {0, 3}}},
      {{2, 8, 6, 33}, {5, 8, 3, 2}, {{2, 1}, {1, 1}}},
      {{2, 3, 5, 5}, {8, 3, 2, 2}, {{1, 1}, {3, 3}}},  // more padding than window
      {{1, 1, 40, 40}, {1, 1, 3, 3}, {{1, 1}, {1, 1}}},
      {{1, 2, 40, 600}, {8, 2, 3, 3}, {{1, 1}, {1, 1}}},    // rows built one by one
      {{3, 20, 7, 7}, {43, 20, 3, 3}, {{1, 1}, {1, 1}}},    // borders separately
      {{40, 9, 8, 6}, {16, 9, 3, 3}, {{1, 1}, {1, 1}}},     // more images than in a chunk
      {{2, 460, 3, 4}, {64, 460, 3, 3}, {{1, 1}, {1, 1}}},  // many channels, few places
      {{3, 16, 9, 8}, {24, 16, 3, 3}, {{2, 2}, {1, 1}}},    // strides, whole vectors of channels
      {{1, 8, 45, 38}, {12, 8, 5, 3}, {{3, 2}, {2, 1}}},    // rows of an image form a chunk
      {{2, 8, 8, 8}, {8, 8, 2, 2}, {{1, 1}, {3, 3}}},       // positions that see only zeros
      {{2, 16, 8, 8}, {16, 16, 1, 1}, {{2, 2}, {0, 0}}},    // larger stride than window
  };
  for (const Case& each : cases) {
    check_case(each, DType::F32);
    check_case(each, DType::F64);
  }
}

}  // namespace distrun::tensor
