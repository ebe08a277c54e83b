// Gradients of gradients, beyond those of single operators (gradient_cases.hpp).
#include <memory>

#include <catch2/catch.hpp>

#include <distrun/runtime/autograd/function.hpp>
#include <distrun/runtime/autograd/operators/all.hpp>
#include <distrun/tensors.hpp>

namespace distrun {
namespace {

constexpr BackwardOptions kRecorded{.create_graph = true};

Tensor given(const std::vector<double>& values) {
  return set_requires_grad(tensor::from_values<double>(values, {std::ssize(values)}));
}
std::vector<double> numbers(const Tensor& tensor) { return tensor::to_vector<double>(tensor); }
Tensor derivative(const Tensor& of, const Tensor& x) { return gradients({sum(of)}, {x}, {}, kRecorded)[0]; }

// Saves its result.
struct Reciprocal {
  static Tensor forward(FunctionContext& context, const Tensor& x) {
    const Tensor result = 1 / x;
    context.save_for_backward({result});
    return result;
  }
  static TensorList backward(FunctionContext& context, TensorList gradients) {
    const Tensor result = context.saved_tensors()[0];
    return {-gradients[0] * result * result};
  }
};

// Saves the second of its results.
struct Powers {
  static TensorList forward(FunctionContext& context, const Tensor& x) {
    TensorList results{x * x, x * x * x};
    context.save_for_backward({x, results[1]});
    return results;
  }
  static TensorList backward(FunctionContext& context, TensorList gradients) {
    const TensorList kept = context.saved_tensors();
    return {gradients[0] * kept[0] * 2 + gradients[1] * kept[1] / kept[0] * 3};
  }
};

struct SeesMode {
  static inline bool was_recorded = false;
  static Tensor forward(FunctionContext&, const Tensor& x) { return x * 2; }
  static TensorList backward(FunctionContext&, TensorList gradients) {
    was_recorded = is_grad_enabled();
    return {gradients[0] * 2};
  }
};

}  // namespace

TEST_CASE("gradients have gradients, to any order") {
  const Tensor x = given({2, -3});
  const Tensor first = derivative(pow(x, 4), x);
  CHECK(numbers(first) == std::vector<double>{32, -108});
  const Tensor second = derivative(first, x);
  CHECK(numbers(second) == std::vector<double>{48, 108});
  const Tensor third = derivative(second, x);
  CHECK(numbers(third) == std::vector<double>{48, -72});
  CHECK(numbers(derivative(third, x)) == std::vector<double>{24, 24});
  CHECK_FALSE(grad(x).defined());
}

TEST_CASE("without create_graph gradients have no graph, and formulas record nothing") {
  const Tensor x = given({2});
  const Tensor y = apply<SeesMode>(x) * x;
  CHECK_FALSE(requires_grad(gradients({y}, {x}, {}, {.retain_graph = true})[0]));
  CHECK_FALSE(SeesMode::was_recorded);
  const NoGradGuard off;  // the pass records nevertheless
  CHECK(requires_grad(gradients({y}, {x}, {}, kRecorded)[0]));
  CHECK(SeesMode::was_recorded);
  CHECK_FALSE(is_grad_enabled());
}

TEST_CASE("grad() of a leaf has a graph, to which later passes add") {
  const Tensor x = given({2});
  backward(pow(x, 3), {}, kRecorded);
  CHECK(numbers(grad(x)) == std::vector<double>{12});
  const Tensor first = grad(x);
  backward(square(first), {}, {.retain_graph = true});  // gradient of 9 x^4: 36 x^3
  CHECK(numbers(grad(x)) == std::vector<double>{12 + 288});
  backward(x * 5, {}, kRecorded);
  CHECK(numbers(grad(x)) == std::vector<double>{305});
  CHECK(numbers(derivative(grad(x), x)) == std::vector<double>{12});  // derivative of 3 x^2 + constants
  set_grad(x, Tensor());                                              // breaks the cycle: the gradient leads back to x
}

TEST_CASE("a leaf with a gradient that leads back to it is freed once that gradient is removed") {
  const auto token = std::make_shared<int>();
  {
    Tensor x = given({2});
    register_hook(x, [token](const Tensor& gradient) { return gradient; });
    backward(pow(x, 3), {}, kRecorded);
    set_grad(x, Tensor());
  }
  CHECK(token.use_count() == 1);
}

TEST_CASE("products with the Hessian are computed without building it") {
  const Tensor x = given({1, 2, 3}), v = tensor::from_values<double>({1, -1, 2}, {3});
  const Tensor y = x[0] * x[1] * x[2] + sum(exp(x * 0.5));
  const Tensor product = gradients({derivative(y, x)}, {x}, {v})[0];
  const std::vector<double> found = numbers(product);
  const auto quarter = [](double at) { return std::exp(at / 2) / 4; };
  CHECK(found[0] == Approx(quarter(1) * 1 + 3 * -1 + 2 * 2));
  CHECK(found[1] == Approx(3 * 1 + quarter(2) * -1 + 1 * 2));
  CHECK(found[2] == Approx(2 * 1 + 1 * -1 + quarter(3) * 2));
}

TEST_CASE("products with zeros among their factors have gradients of gradients") {
  const Tensor one = given({0, 2, 3});
  const Tensor of_one = derivative(prod(one), one);
  CHECK(numbers(of_one) == std::vector<double>{6, 0, 0});
  CHECK(numbers(derivative(of_one, one)) == std::vector<double>{5, 3, 2});
  const Tensor two = given({0, 0, 3});
  const Tensor of_two = derivative(prod(two), two);
  CHECK(numbers(of_two) == std::vector<double>{0, 0, 0});
  CHECK(numbers(derivative(of_two, two)) == std::vector<double>{3, 3, 0});
}

TEST_CASE("custom functions are recorded as they are written, results that they keep as well") {
  const Tensor x = given({2, -4});
  const Tensor first = derivative(apply<Reciprocal>(x), x);
  CHECK(numbers(first) == std::vector<double>{-0.25, -0.0625});
  CHECK(numbers(derivative(first, x)) == std::vector<double>{0.25, -0.03125});
  const TensorList powers = apply<Powers>(x);
  const Tensor of_powers = derivative(powers[0] + powers[1], x);
  CHECK(numbers(of_powers) == std::vector<double>{16, 40});
  CHECK(numbers(derivative(of_powers, x)) == std::vector<double>{14, -22});
}

TEST_CASE("hooks see recorded gradients, and the gradients they return are in the graph") {
  const Tensor x = given({3});
  const Tensor y = x * x;
  register_hook(y, [](const Tensor& gradient) { return gradient * 10; });
  register_hook(x, [](const Tensor& gradient) { return requires_grad(gradient) ? square(gradient) : gradient; });
  const Tensor first = derivative(y, x);
  CHECK(numbers(first) == std::vector<double>{3600});
  // The gradient of 400 x^2; the hook has seen 2400, too.
  CHECK(numbers(gradients({first}, {x})[0]) == std::vector<double>{2400});
}

TEST_CASE("gradients of other dtypes keep their graph") {
  const Tensor x = given({3});
  const Tensor y = to(to(x, DType::F32) * to(x, DType::F32), DType::F64);
  const Tensor first = derivative(y, x);
  CHECK(first.dtype() == DType::F64);
  CHECK(numbers(derivative(first, x)) == std::vector<double>{2});
}

TEST_CASE("tensors that a recorded gradient has saved must not change before its own gradient is computed") {
  const Tensor x = given({1, 2, 3});
  const Tensor index = tensor::from_values<std::int64_t>({2, 2}, {2});
  const Tensor w = given({1, 4});
  const Tensor first = gradients({sum(index_select(x, 0, index) * w)}, {x}, {}, kRecorded)[0];
  CHECK(numbers(first) == std::vector<double>{0, 0, 5});
  fill_(index, 0);
  CHECK_THROWS_WITH(backward(sum(first * first)), Catch::Contains("modified by an inplace operation"));
}

TEST_CASE("a pass over a recorded gradient releases its graph") {
  const Tensor x = given({2});
  const Tensor first = derivative(exp(x) * x, x);
  backward(first);
  CHECK_THROWS_WITH(backward(first), Catch::Contains("a second time"));
}

TEST_CASE("batch_norm of several ranks' moments has no gradients of gradients, and says so") {
  const Tensor x = set_requires_grad(tensor::ones({4, 2}, {DType::F64, device::kCpu}));
  const tensor::Moments moments{tensor::zeros({2}, x.options()), tensor::ones({2}, x.options())};
  const Tensor y = batch_norm(x, moments, {}, {}, 1e-5, {.count = 8, .add_up = [](const TensorList&) {}});
  CHECK_THROWS_WITH(derivative(y, x),
                    "NativeBatchNormBackward0: there are no gradients of gradients (create_graph) "
                    "through moments of several ranks");
}

TEST_CASE("a gradient penalty can be used in training") {
  tensor::manual_seed(3);
  const Tensor w = set_requires_grad(tensor::randn({8, 4}, {DType::F64, device::kCpu}));
  const Tensor x = set_requires_grad(tensor::randn({16, 8}, {DType::F64, device::kCpu}));
  const auto steepness = [&] { return mean(square(norm(derivative(tanh(matmul(x, w)), x), 2, Dims{1}))); };
  const double before = steepness().item<double>();
  for (int step = 0; step < 20; ++step) {
    const Tensor slope = gradients({steepness()}, {w})[0];
    const NoGradGuard off;
    sub_(w, slope, 0.1);
  }
  CHECK(steepness().item<double>() < 0.5 * before);
}

}  // namespace distrun
