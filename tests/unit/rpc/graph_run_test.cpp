#include <catch2/catch.hpp>

#include <cmath>
#include <limits>

#include <distrun/common/base/error.hpp>
#include <distrun/runtime/autograd/backward.hpp>
#include <distrun/runtime/autograd/gradient.hpp>
#include <distrun/runtime/autograd/operators/all.hpp>
#include <distrun/runtime/rpc/functions/operators.hpp>
#include <distrun/runtime/rpc/graph/builder.hpp>
#include <distrun/runtime/rpc/graph/run.hpp>

namespace distrun {
namespace {

using Catch::Matchers::Contains;
using rpc::from_value;
using rpc::GraphBuilder;
using rpc::GraphValue;
using rpc::run_graph;
using rpc::Value;
using Int = std::int64_t;

template <class T>
Value value_of(const T& object) {
  return rpc::to_value(object);
}

// Returns the result of f for these values.
template <class Formula, class... Passed>
Value eval(const Formula& formula, const Passed&... passed) {
  GraphBuilder g("f");
  const std::vector<GraphValue> parameters = [&] {
    std::vector<GraphValue> made;
    for (std::size_t i = 0; i < sizeof...(passed); ++i) made.push_back(g.parameter("x" + std::to_string(i)));
    return made;
  }();
  return run_graph(*g.returns(formula(g, parameters)), {value_of(passed)...});
}

using Values = const std::vector<GraphValue>&;

}  // namespace

TEST_CASE("a loop changes its tensor in place, and returns a number") {
  GraphBuilder g("heavy_rpc");
  const GraphValue t = g.parameter("tensor");
  g.for_each(1, 100, [&](GraphValue i) {
    g.op("mul_", t, i);
    g.op("div_", t, i + 1);
  });
  const auto heavy = g.returns(0);

  const Tensor tensor = tensor::ones({100, 100}), expected = tensor::ones({100, 100});
  CHECK(from_value<int>(run_graph(*heavy, {Value(tensor)})) == 0);
  for (int i = 1; i < 100; ++i) {
    mul_(expected, i);
    div_(expected, i + 1);
  }
  CHECK(equal(tensor, expected));
}

TEST_CASE("an error raised by a function is a plain error with its text") {
  GraphBuilder g("raises");
  const GraphValue text = g.parameter("text");
  g.raise(text);
  const auto raises = g.returns();
  try {
    run_graph(*raises, {value_of("Expected error")});
    FAIL("it returned");
  } catch (const Error& error) {
    CHECK(error.what() == std::string("Expected error"));
    CHECK(error.type() == "RuntimeError");
    CHECK(error.kind() == ErrorKind::Failed);
  }
  GraphBuilder typed("raises");
  typed.raise("no: " + typed.parameter("text"), "ValueError");
  CHECK_THROWS_WITH(run_graph(*typed.returns(), {value_of("that")}), "no: that");
}

TEST_CASE("operators take tensors and numbers, and are recorded") {
  const Tensor two = tensor::full({}, 2, {tensor::DType::I64, {}});
  const auto sum = [](GraphBuilder& g, Values x) { return g.op("add", x[0], x[1]); };
  CHECK(from_value<Tensor>(eval(sum, two, two)).item_as<Int>() == 4);
  CHECK(from_value<int>(eval(sum, 1, 1)) == 2);

  const Tensor leaf = set_requires_grad(tensor::ones({2, 2}));
  backward(distrun::sum(from_value<Tensor>(eval([](GraphBuilder&, Values x) { return x[0] * 3; }, leaf))));
  CHECK(equal(grad(leaf), tensor::full({2, 2}, 3.0)));

  const auto stacked = eval([](GraphBuilder& g, Values x) { return g.op("stack", g.list(x[0], x[0])); }, two);
  CHECK(from_value<Tensor>(stacked).sizes() == Dims{2});
  const auto made = eval([](GraphBuilder& g, Values) { return g.op("ones", std::vector<int>{2, 3}); });
  CHECK(equal(from_value<Tensor>(made), tensor::ones({2, 3})));
  const auto parts =
      eval([](GraphBuilder& g, Values x) { return g.item(g.op("split", x[0], 1), -1); }, tensor::ones({3}));
  CHECK(from_value<Tensor>(parts).sizes() == Dims{1});
}

TEST_CASE("arithmetic on tensors is that of the operators, from both sides") {
  const Tensor t = tensor::full({2}, 3.0);
  const auto is = [&](const auto& formula, double expected) {
    return equal(from_value<Tensor>(eval(formula, t)), tensor::full({2}, expected));
  };
  CHECK(is([](GraphBuilder&, Values x) { return x[0] - 1; }, 2));
  CHECK(is([](GraphBuilder&, Values x) { return 1 - x[0]; }, -2));
  CHECK(is([](GraphBuilder&, Values x) { return 2 * x[0]; }, 6));
  CHECK(is([](GraphBuilder&, Values x) { return x[0] / 2; }, 1.5));
  CHECK(is([](GraphBuilder&, Values x) { return -x[0] + x[0] * x[0]; }, 6));
  const auto below = eval([](GraphBuilder&, Values x) { return 2 < x[0]; }, t);
  CHECK(all(from_value<Tensor>(below)).item_as<bool>());
}

TEST_CASE("arithmetic on numbers is Python's, with ints of 64 bits") {
  const auto ints = [](const auto& formula, Int a, Int b) { return from_value<Int>(eval(formula, a, b)); };
  const auto floor_div = [](GraphBuilder& g, Values x) { return g.floor_div(x[0], x[1]); };
  const auto rest = [](GraphBuilder&, Values x) { return x[0] % x[1]; };
  CHECK(ints(floor_div, 7, 2) == 3);
  CHECK(ints(floor_div, -7, 2) == -4);
  CHECK(ints(floor_div, 7, -2) == -4);
  CHECK(ints(rest, -7, 2) == 1);
  CHECK(ints(rest, 7, -2) == -1);
  constexpr Int kMin = std::numeric_limits<Int>::min(), kMax = std::numeric_limits<Int>::max();
  CHECK(ints(floor_div, kMin, -1) == kMin);
  CHECK(ints(rest, kMin, -1) == 0);
  CHECK(ints([](GraphBuilder&, Values x) { return x[0] + x[1]; }, kMax, 1) == kMin);
  CHECK(ints([](GraphBuilder&, Values x) { return -x[0] * x[1]; }, 4, 5) == -20);

  const auto quotient = [](GraphBuilder&, Values x) { return x[0] / x[1]; };
  CHECK(from_value<double>(eval(quotient, 7, 2)) == 3.5);
  CHECK(from_value<double>(eval(rest, -7.5, 2.0)) == 0.5);
  CHECK_THROWS_WITH(eval(quotient, 7, 0), "in graph function f, node 1 (/): division by zero");
  CHECK_THROWS_WITH(eval(rest, 7.0, 0.0), Contains("division by zero"));

  const auto bools = [](const auto& formula, auto a, auto b) { return from_value<bool>(eval(formula, a, b)); };
  CHECK(bools([](GraphBuilder&, Values x) { return x[0] < x[1]; }, 1, 1.5));
  CHECK(bools([](GraphBuilder&, Values x) { return x[0] == x[1]; }, 1, true));
  CHECK(bools([](GraphBuilder&, Values x) { return x[0] != x[1]; }, 1, "1"));
  CHECK(bools([](GraphBuilder&, Values x) { return !(x[0] >= x[1]); }, "a", "b"));
  CHECK_THROWS_WITH(eval([](GraphBuilder&, Values x) { return x[0] < x[1]; }, 1, "1"),
                    Contains("< does not take int and str"));
}

TEST_CASE("loops count up and down, and variables keep their assigned values") {
  const auto count = [](int begin, int end, int step) {
    GraphBuilder g("count");
    const GraphValue seen = g.variable(std::vector<int>());
    g.for_each(begin, end, step, [&](GraphValue i) { g.assign(seen, seen + g.list(i)); });
    return from_value<std::vector<int>>(run_graph(*g.returns(seen), {}));
  };
  CHECK(count(1, 4, 1) == std::vector<int>{1, 2, 3});
  CHECK(count(5, 0, -2) == std::vector<int>{5, 3, 1});
  CHECK(count(4, 1, 1).empty());
  CHECK_THROWS_WITH(count(0, 1, 0), Contains("the step of a loop must not be zero"));
  CHECK_THROWS_WITH(eval(
                        [](GraphBuilder& g, Values x) {
                          g.for_each(0, x[0], [](GraphValue) {});
                          return x[0];
                        },
                        "three"),
                    "in graph function f, node 1 (for_each): the end of a loop must be int, not str");
}

TEST_CASE("a function takes either branch, and may return in the middle") {
  GraphBuilder g("first_square_over");
  const GraphValue least = g.parameter("least");
  g.branch(least < 0, [&] { g.raise("below zero", "ValueError"); });
  g.for_each(0, 100, [&](GraphValue i) {
    g.branch(
        i * i > least, [&] { g.return_now(i * i); }, [&] { g.op("add", i, 1); });
  });
  const auto function = g.returns(std::monostate());
  CHECK(from_value<int>(run_graph(*function, {value_of(50)})) == 64);
  CHECK(run_graph(*function, {value_of(1'000'000)}).is_none());
  CHECK_THROWS_WITH(run_graph(*function, {value_of(-1)}), "below zero");
}

TEST_CASE("lists, tuples and maps are built and indexed") {
  GraphBuilder g("collect");
  const GraphValue x = g.parameter("x");
  const GraphValue map = g.map({{"x", x}, {"twice", x * 2}, {"x", 0}});
  const auto function =
      g.returns(g.tuple(g.item(map, "twice"), g.size(map), g.item(map, "x"), g.item(g.list(1, 2, 3), -1)));
  CHECK(from_value<std::vector<int>>(run_graph(*function, {value_of(21)})) == std::vector<int>{42, 2, 0, 3});

  CHECK_THROWS_WITH(eval([](GraphBuilder& b, Values v) { return b.item(b.list(1), v[0]); }, 1),
                    Contains("there is no item 1 of 1"));
  CHECK_THROWS_WITH(eval(
                        [](GraphBuilder& b, Values v) {
                          return b.item(b.map({{1, 2}}), v[0]);
                        },
                        2),
                    Contains("there is no key int 2"));
  CHECK_THROWS_WITH(eval([](GraphBuilder& b, Values v) { return b.size(v[0]); }, 2), Contains("int has no length"));
}

TEST_CASE("functions call others, and an error names the call path to its place") {
  GraphBuilder inner("inner");
  const GraphValue a = inner.parameter("a");
  const auto function = inner.returns(inner.op("mm", a, a));
  GraphBuilder outer("outer");
  const GraphValue b = outer.parameter("b");
  const auto caller = outer.returns(outer.call(function, b) + outer.call(function, b));
  CHECK(equal(from_value<Tensor>(run_graph(*caller, {Value(tensor::ones({2, 2}))})), tensor::full({2, 2}, 4.0)));
  CHECK_THROWS_WITH(run_graph(*caller, {value_of(1)}),
                    "in graph function outer, node 1 (inner): in graph function inner, node 1 (mm): operator mm does "
                    "not take (int, int); it takes (Tensor, Tensor)");
}

TEST_CASE("each run has the constants unchanged") {
  GraphBuilder g("count");
  const GraphValue t = g.constant(tensor::zeros({1}));
  g.op("add_", t, 1);
  const auto function = g.returns(t);
  for (int i = 0; i < 2; ++i) CHECK(from_value<Tensor>(run_graph(*function, {})).item_as<int>() == 1);
}

TEST_CASE("a function gets as many arguments as it has parameters") {
  GraphBuilder g("f");
  g.parameter("x");
  CHECK_THROWS_WITH(run_graph(*g.returns(), {}), "f() takes 1 arguments but 0 were given");
}

TEST_CASE("a function that runs too long is ended") {
  GraphBuilder g("endless");
  g.for_each(0, Int{1} << 62, [](GraphValue) {});
  const auto endless = g.returns();
  CHECK_THROWS_WITH(run_graph(*endless, {}, {10'000, {}}), "graph function endless takes more than 10000 steps");
  int polls = 0;
  const auto stop = [&] {
    if (++polls == 3) throw Error(ErrorKind::Cancelled, "no caller waits");
  };
  CHECK_THROWS_WITH(run_graph(*endless, {}, {Int{1} << 40, stop}), "no caller waits");
}

TEST_CASE("a function cannot exhaust memory with lists or strings") {
  const auto doubled = [](const auto& first) {
    GraphBuilder g("grows");
    const GraphValue all = g.variable(first);
    g.for_each(0, 60, [&](GraphValue) { g.assign(all, all + all); });
    run_graph(*g.returns(all), {});
  };
  CHECK_THROWS_WITH(doubled(std::vector<int>{1}), Contains("grows makes something of"));
  CHECK_THROWS_WITH(doubled("x"), Contains("a string of more than"));
  GraphBuilder g("nests");
  const GraphValue all = g.variable(0);
  g.for_each(0, 1000, [&](GraphValue) { g.assign(all, g.list(all)); });
  CHECK_THROWS_WITH(run_graph(*g.returns(all), {}), Contains("levels deep"));
}

TEST_CASE("operators are called with results of calls") {
  const auto call = [](std::string_view name, std::vector<Value> arguments) {
    return rpc::run_operator(name, arguments);
  };
  CHECK(from_value<int>(call("add", {value_of(1), value_of(1)})) == 2);
  CHECK(call("to", {Value(tensor::ones({1})), Value(device::kCpu)}).kind() == rpc::Kind::Tensor);
  CHECK_THROWS_WITH(call("non_exist", {}), "there is no operator named non_exist");
  CHECK_THROWS_WITH(call("add", {value_of(std::vector<double>{1})}), "unsupported operand type(s) for +: 'list'");
}

}  // namespace distrun
