#include <catch2/catch.hpp>

#include <distrun/runtime/autograd/anomaly.hpp>
#include <distrun/runtime/autograd/backward.hpp>
#include <distrun/runtime/autograd/function.hpp>
#include <distrun/runtime/autograd/gradient.hpp>
#include <distrun/runtime/autograd/operators/all.hpp>
#include <distrun/runtime/autograd/scope.hpp>

#include "support/error_of.hpp"

namespace distrun {
namespace {

Tensor twos(const Dims& sizes = {3}) { return set_requires_grad(full(sizes, 2.0)); }

struct Cube {
  static Tensor forward(FunctionContext& context, const Tensor& x, double factor) {
    CHECK_FALSE(is_grad_enabled());
    context.save_for_backward({x});
    context.data["factor"] = factor;
    return x * x * x * factor;
  }
  static TensorList backward(FunctionContext& context, TensorList gradients) {
    const Tensor x = context.saved_tensors()[0];
    return {gradients[0] * x * x * 3 * std::get<double>(context.data["factor"])};
  }
};

// Takes a list; has three results, one of them without a gradient.
struct SumAndSign {
  static TensorList forward(FunctionContext& context, const TensorList& list) {
    TensorList results = {list[0] + list[1], gt(list[0], 0), list[0] * 1};
    context.mark_non_differentiable({results[2]});
    return results;
  }
  static TensorList backward(FunctionContext& context, TensorList gradients) {
    CHECK(gradients.size() == 3);
    CHECK(context.needs_input_gradient(0));
    CHECK_FALSE(context.needs_input_gradient(1));
    return {gradients[0], {}};
  }
};

struct Doubles {  // in place
  static Tensor forward(FunctionContext& context, const Tensor& x) {
    mul_(x, 2);
    context.save_for_backward({x});
    context.mark_dirty({x});
    return x;
  }
  static TensorList backward(FunctionContext&, TensorList gradients) { return {gradients[0] * 2}; }
};

// The identity, and a view of it: the gradient is ten times that of the view.
struct TenTimes {
  static Tensor forward(FunctionContext&, const Tensor& x) { return x; }
  static TensorList backward(FunctionContext&, TensorList gradients) { return {gradients[0] * 10}; }
};
struct TenTimesHead {
  static Tensor forward(FunctionContext&, const Tensor& x) { return narrow(x, 0, 0, 1); }
  static TensorList backward(FunctionContext&, TensorList gradients) { return {cat({gradients[0] * 10, zeros({2})})}; }
};

// Changes its second argument.
struct ScaleSecond {
  static Tensor forward(FunctionContext& context, const Tensor& factor, const Tensor& x) {
    context.save_for_backward({factor, x * 1});
    mul_(x, factor);
    context.mark_dirty({x});
    return x;
  }
  static TensorList backward(FunctionContext& context, TensorList gradients) {
    const TensorList kept = context.saved_tensors();
    return {sum(gradients[0] * kept[1]), gradients[0] * kept[0]};
  }
};

// Returns its argument, marked as not differentiable.
struct Constant {
  static Tensor forward(FunctionContext& context, const Tensor& x) {
    context.mark_non_differentiable({x});
    return x;
  }
  static TensorList backward(FunctionContext&, TensorList) { return {{}}; }
};

struct Forgets {  // does not return the changed tensor
  static Tensor forward(FunctionContext& context, const Tensor& x) {
    mul_(x, 2);
    context.mark_dirty({x});
    return x * 1;
  }
  static TensorList backward(FunctionContext&, TensorList gradients) { return gradients; }
};

struct TooFew {
  static Tensor forward(FunctionContext&, const Tensor& a, const Tensor& b) { return a + b; }
  static TensorList backward(FunctionContext&, TensorList gradients) { return {gradients[0]}; }
};

struct WrongSize {
  static Tensor forward(FunctionContext&, const Tensor& a) { return a * 1; }
  static TensorList backward(FunctionContext&, TensorList) { return {ones({2, 2})}; }
};

struct Spoils {
  static Tensor forward(FunctionContext&, const Tensor& a) { return a * 1; }
  static TensorList backward(FunctionContext&, TensorList gradients) { return {gradients[0] * 0.0 / 0.0}; }
};

class Recorder final : public autograd::ScopeHook {
 public:
  void* enter(const autograd::Scope& scope) noexcept override {
    entered.push_back(std::string(scope.name));
    inputs += scope.inputs().size();
    if (scope.name == "mul") sequence_of_mul = scope.sequence;
    if (scope.name == "MulBackward0") sequence_of_node = scope.sequence;
    return this;
  }
  void leave(void* given) noexcept override { left += given == this ? 1 : 0; }

  std::vector<std::string> entered;
  std::size_t inputs = 0, left = 0;
  std::uint64_t sequence_of_mul = 1, sequence_of_node = 2;
};

}  // namespace

TEST_CASE("a user's function has its own formula, and saves tensors and other data for it") {
  const Tensor x = twos();
  const Tensor y = apply<Cube>(x, 0.5);
  CHECK(grad_fn(y)->name() == "CubeBackward");
  CHECK(equal(y, full({3}, 4.0)));
  backward(sum(y));
  CHECK(equal(grad(x), full({3}, 6.0)));
  CHECK_THROWS_WITH(backward(sum(y)), Catch::Contains("Trying to backward through the graph a second time"));
}

TEST_CASE("a tensor that a function saved must not change") {
  const Tensor x = twos() * 1;
  const Tensor y = apply<Cube>(x, 1.0);
  add_(x, 1);
  CHECK_THROWS_WITH(backward(sum(y)), Catch::Contains("modified by an inplace operation"));
}

TEST_CASE("a function takes lists and has several results, some without a gradient") {
  const Tensor x = twos();
  const TensorList results = apply<SumAndSign>(TensorList{x, ones({3})});
  CHECK(requires_grad(results[0]));
  CHECK_FALSE(requires_grad(results[1]));
  CHECK_FALSE(requires_grad(results[2]));
  backward(sum(results[0]));
  CHECK(equal(grad(x), ones({3})));
}

TEST_CASE("a function may change its argument in place") {
  const Tensor x = twos();
  const Tensor y = x * 1;
  const Tensor z = apply<Doubles>(y);
  CHECK(z.is_same(y));
  CHECK(y.use_count() == 2);  // the node does not keep y, which has the node
  CHECK(grad_fn(y)->name() == "DoublesBackward");
  const Tensor base = x * 3;
  apply<Doubles>(narrow(base, 0, 0, 1));
  backward(sum(z) + sum(base));
  CHECK(equal(grad(x), tensor::from_values<float>({8, 5, 5})));
}

TEST_CASE("a function that does not return an argument that it changed in place is an error") {
  CHECK_THROWS_WITH(apply<Forgets>(twos() * 1),
                    Catch::Contains("ForgetsBackward: float32 [3] is marked as changed in place") &&
                        Catch::Contains("forward() must return it"));
}

TEST_CASE("wrong gradients of a function are reported with its name") {
  const Tensor a = twos(), b = twos();
  CHECK_THROWS_WITH(backward(sum(apply<TooFew>(a, b))),
                    "Function TooFewBackward returned an incorrect number of gradients (expected 2, got 1)");
  CHECK_THROWS_WITH(
      backward(sum(apply<WrongSize>(a))),
      "Function WrongSizeBackward returned an invalid gradient at index 0 - got [2, 2] but expected shape "
      "compatible with [3]");
}

TEST_CASE("a view that a function has returned keeps the function's gradient, or is refused") {
  const Tensor a = twos();
  const auto gradient_of = [&a](const Tensor& y) { return gradients({sum(y)}, {a})[0]; };
  SECTION("also when tensors are changed without recording") {
    const Tensor h = a * 1, y = apply<TenTimes>(h), head = apply<TenTimesHead>(h), part = narrow(y, 0, 0, 2);
    {
      const NoGradGuard off;
      add_(h, 1);
    }
    CHECK(equal(gradient_of(y), full({3}, 10.0)));
    CHECK(equal(gradient_of(head * 1), tensor::from_values<float>({10, 0, 0}, {3})));
    CHECK(equal(gradient_of(part), tensor::from_values<float>({10, 10, 0}, {3})));
  }
  SECTION("the view is not changed where that is recorded") {
    const Tensor h = a * 1;
    CHECK_THROWS_WITH(mul_(apply<TenTimes>(h), 2), Catch::Contains("a view that a custom function has returned"));
    CHECK_THROWS_WITH(mul_(apply<TenTimesHead>(h), 2), Catch::Contains("a view that a custom function has returned"));
  }
  SECTION("nor used after its base was changed") {
    const Tensor h = a * 1, y = apply<TenTimes>(h);
    mul_(h, 2);
    CHECK_THROWS_WITH(sum(y), Catch::Contains("TenTimesBackward has returned was changed in place since"));
    CHECK(equal(gradient_of(h), full({3}, 2.0)));
  }
}

TEST_CASE("a view may be any argument of a function that changes it") {
  const Tensor a = twos({4}), factor = twos({});
  const Tensor base = a * 1;
  apply<ScaleSecond>(factor, narrow(base, 0, 1, 2));
  backward(sum(base));
  CHECK(equal(grad(a), tensor::from_values<float>({1, 2, 2, 1}, {4})));
  CHECK(grad(factor).item<float>() == 4);
}

TEST_CASE("an argument that a function returns without a gradient requires none there") {
  const Tensor a = twos(), b = a * 1;
  CHECK_FALSE(requires_grad(apply<Constant>(b)));
  CHECK_FALSE(requires_grad(apply<Constant>(a)));
  CHECK(requires_grad(b));
}

TEST_CASE("anomaly mode names the node with a NaN gradient, and its forward call") {
  const Tensor a = twos();
  {
    const AnomalyGuard guard;
    const autograd::ForwardName name("the second layer");
    const int line = __LINE__ + 1;
    const Tensor y = apply<Spoils>(a);
    const std::string text = testing::error_of([&] { backward(sum(y)); }).what();
    CHECK_THAT(text, Catch::StartsWith("Function 'SpoilsBackward' returned nan values in its 0th output.\n"
                                       "The forward call of SpoilsBackward was made at:\n  in the second layer\n"));
    CHECK_THAT(text, Catch::Contains(" at " __FILE__ ":" + std::to_string(line) + "\n"));
  }
  const Tensor quiet = apply<Spoils>(a);
  backward(sum(quiet));
  const AnomalyGuard guard;
  CHECK_THROWS_WITH(backward(sum(quiet)), Catch::Contains("is recorded only in anomaly mode"));
}

TEST_CASE("the scope hook sees operators and nodes, with their sequence numbers and inputs") {
  const Tensor a = twos();
  Recorder recorder;
  CHECK(autograd::set_scope_hook(&recorder) == nullptr);
  backward(sum(a * a));
  CHECK(autograd::set_scope_hook(nullptr) == &recorder);
  CHECK(recorder.entered ==
        std::vector<std::string>{"mul", "sum", "SumBackward0", "MulBackward0", "torch::autograd::AccumulateGrad"});
  CHECK(recorder.left == 5);
  CHECK(recorder.inputs == 2 + 1 + 3);
  CHECK(recorder.sequence_of_mul == recorder.sequence_of_node);
}

}  // namespace distrun
