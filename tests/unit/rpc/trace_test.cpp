#include <distrun/runtime/rpc/graph/trace.hpp>

#include <array>

#include <catch2/catch.hpp>

#include <distrun/common/base/error.hpp>
#include <distrun/runtime/autograd/operators/all.hpp>
#include <distrun/runtime/rpc/graph/run.hpp>
#include <distrun/runtime/tensor/closeness.hpp>

namespace distrun {
namespace {

using rpc::GraphValue;
using rpc::Value;

template <class... Arguments>
Value run(const rpc::GraphBuilder::Function& function, const Arguments&... arguments) {
  return rpc::run_graph(*function, {rpc::to_value(arguments)...});
}

// Compares the code's results for tensors with those of its trace.
template <class Code>
void check_same(const Code& code) {
  const Tensor x = add(zeros({3, 4}), reshape(arange(12), {3, 4})), y = ones({3, 4});
  const auto traced = rpc::trace("code", {"x", "y"}, code);
  const auto from_trace = rpc::from_value<Tensor>(run(traced, clone(x), clone(y)));
  CHECK_FALSE(tensor::difference(from_trace, code(clone(x), clone(y))));
}

}  // namespace

TEST_CASE("a trace computes the same as the traced code") {
  check_same([](auto x, auto y) { return relu(distrun::sub(x, 5)) * 2 + distrun::neg(y); });
  check_same([](auto x, auto y) { return distrun::mm(x, distrun::t(y)); });
  check_same([](auto x, auto y) { return distrun::sum(x * y, Dims{0}, true); });
  check_same([](auto x, auto y) { return distrun::cat(std::vector{x, y, x}, 1); });
  check_same([](auto x, auto y) { return distrun::select(distrun::stack(std::vector{x, y}), 0, 1) - x; });
  check_same([](auto x, auto y) { return distrun::linear(x, y) + distrun::linear(x, y, ones({3})); });
  check_same([](auto x, auto y) { return 3 / (x + 1) - y; });
  check_same([](auto x, auto y) { return 1.5 - x / 2 + distrun::narrow(y, 1, 0, 1); });
  check_same([](auto x, auto y) { return distrun::softmax(x, 1) + distrun::batch_norm(y) + x.numel() + y.size(1); });
  check_same([](auto x, auto y) {
    const auto image = distrun::reshape(x, Dims{1, 1, 3, 4}), kernel = distrun::reshape(y, Dims{1, 1, 3, 4});
    return distrun::conv2d(image, kernel, Tensor(), {{1, 1}, {1, 1}}) +
           distrun::sum(distrun::max_pool2d(image, {{3, 3}, {1, 1}, {1, 1}}));
  });
}

TEST_CASE("C++ loops are unrolled, and in-place changes are kept") {
  const auto factorial = [](auto x) {
    for (int i = 1; i <= 4; ++i) mul_(x, i);
    return x;
  };
  const auto traced = rpc::trace("factorial", {"x"}, factorial);
  CHECK(traced->body().nodes.size() == 5);
  CHECK(rpc::from_value<Tensor>(run(traced, ones({2}))).numel() == 2);
  CHECK_FALSE(tensor::difference(rpc::from_value<Tensor>(run(traced, ones({2}))), full({2}, 24)));
}

TEST_CASE("a trace returns the same as its code") {
  const Tensor x = ones({2});
  CHECK(run(rpc::trace("nothing", {"x"}, [](auto a) { zero_(a); }), clone(x)).is_none());
  CHECK(rpc::from_value<int>(run(rpc::trace("number", {"x"}, [](auto) { return 3; }), x)) == 3);
  const Value pair = run(rpc::trace("pair", {"x"}, [](auto a) { return std::pair(a, 2 * a); }), x);
  CHECK(pair.kind() == rpc::Kind::Tuple);
  const Value list = run(rpc::trace("list", {"x"}, [](auto a) { return std::vector{a, a + 1, a + 2}; }), x);
  CHECK(rpc::from_value<TensorList>(list).size() == 3);
}

TEST_CASE("a tensor that the code captures is a constant with its value at the time") {
  const Tensor weight = full({2}, 3);
  const auto traced = rpc::trace("scaled", {"x"}, [&](auto x) { return x * weight; });
  zero_(weight);
  CHECK_FALSE(tensor::difference(rpc::from_value<Tensor>(run(traced, ones({2}))), full({2}, 3)));
}

TEST_CASE("parts of two functions are not mixed") {
  rpc::GraphBuilder other("other");
  const GraphValue foreign = other.parameter("y");
  CHECK_THROWS_WITH(rpc::trace("mixed", {"x"}, [&](auto x) { return distrun::mm(x, foreign); }),
                    "graph function mixed: a value of graph function other is used");
}

}  // namespace distrun
