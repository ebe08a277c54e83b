#include <catch2/catch.hpp>

#include <distrun/common/base/error.hpp>
#include <distrun/runtime/autograd/operators/all.hpp>
#include <distrun/runtime/rpc/graph/builder.hpp>
#include <distrun/runtime/rpc/graph/run.hpp>

namespace distrun {
namespace {

using Catch::Matchers::Contains;
using rpc::GraphBuilder;
using rpc::GraphFunction;
using rpc::GraphValue;

std::string type_of_error(const std::function<void()>& work) {
  try {
    work();
  } catch (const Error& error) {
    return error.type();
  }
  return "none";
}

}  // namespace

TEST_CASE("a function has its name, its parameters and a body that returns") {
  GraphBuilder g("scaled");
  const GraphValue x = g.parameter("x"), factor = g.parameter("factor");
  const auto function = g.returns(x * factor);
  CHECK(function->name() == "scaled");
  CHECK(rpc::to_string(*function) == "scaled(x, factor)");
  CHECK(function->register_count() == 3);
  CHECK(function->body().nodes.size() == 2);
  CHECK(function->depth() == 1);
}

TEST_CASE("a mistake is reported where it is made") {
  GraphBuilder g("f");
  const GraphValue x = g.parameter("x");
  CHECK_THROWS_WITH(g.op("no_such_operator", x), "there is no operator named no_such_operator");
  CHECK_THROWS_WITH(g.op("matmull", x), "there is no operator named matmull; did you mean matmul?");
  CHECK(type_of_error([&] { g.op("no_such_operator", x); }) == "AttributeError");

  GraphBuilder other("other");
  const GraphValue y = other.parameter("y");
  CHECK_THROWS_WITH(x + y, "graph function f: a value of graph function other is used");
  CHECK_THROWS_WITH(g.assign(g.constant(3), 4),
                    "graph function f: a constant can't be assigned to: make it a variable()");

  std::vector<GraphValue> inner;
  g.for_each(0, 3, [&](GraphValue i) { inner = {i, i + 1}; });
  for (const GraphValue& each : inner) {
    CHECK_THROWS_WITH(each + 1, "graph function f: a value is used outside of the block that makes it");
  }
  const auto g_function = g.returns(x);
  CHECK_THROWS_WITH(x + 1, Contains("is finished"));
  CHECK_THROWS_WITH(g.returns(1), Contains("is finished"));
  CHECK_THROWS_WITH(other.call(g_function, 1, 2), "graph function other: f(x) is called with 2 arguments");
}

TEST_CASE("an incomplete function is not created") {
  GraphBuilder g("f");
  g.for_each(0, 3, [&](GraphValue) { CHECK_THROWS_WITH(g.returns(1), Contains("a block is open")); });
  GraphBuilder twice("f");
  twice.parameter("x");
  twice.parameter("x");
  CHECK_THROWS_WITH(twice.returns(), "graph function f: two parameters are named x");
  CHECK_THROWS_WITH(GraphBuilder("").returns(), Contains("has a name of 0 bytes"));
}

TEST_CASE("a constant is a copy, and must be a plain value") {
  GraphBuilder g("f");
  const Tensor ones = tensor::ones({2});
  const GraphValue constant = g.constant(ones);
  fill_(ones, 7);
  const auto function = g.returns(constant);
  CHECK(equal(rpc::from_value<Tensor>(run_graph(*function, {})), tensor::ones({2})));

  GraphBuilder futures("f");
  CHECK_THROWS_WITH(futures.returns(future::Future<int>()),
                    "graph function f: Future can't be a constant; give it as an argument");
  GraphBuilder large("f");
  CHECK_THROWS_WITH(large.returns(tensor::ones({1 << 20})), Contains("bytes of constants"));
  GraphBuilder sparse("f");
  CHECK_THROWS_WITH(sparse.returns(Tensor()), Contains("must be a dense tensor of the CPU"));
}

TEST_CASE("blocks nest up to 64 levels, including those of called functions") {
  GraphBuilder g("deep");
  const std::function<void(int)> nest = [&](int levels) {
    if (levels == 0) return;
    g.branch(true, [&] { nest(levels - 1); });
  };
  SECTION("not more") {
    nest(64);
    CHECK_THROWS_WITH(g.returns(), "graph function deep has 65 levels of blocks, and may have 64");
  }
  SECTION("64 levels") {
    nest(63);
    const auto deep = g.returns();
    CHECK(deep->depth() == 64);
    GraphBuilder caller("caller");
    caller.call(deep);
    CHECK_THROWS_WITH(caller.returns(), Contains("65 levels"));
  }
}

TEST_CASE("an invalid program is refused, from any source") {
  using rpc::graph::Node;
  using rpc::graph::NodeKind;
  const auto function_of = [](std::vector<Node> nodes, std::uint32_t registers) {
    return GraphFunction({"f", {{"x", "any"}}, {rpc::Value(true)}, {}, registers, {std::move(nodes)}});
  };
  const auto node = [](NodeKind kind, std::vector<rpc::graph::Register> in, rpc::graph::Register out) {
    Node made;
    made.kind = kind;
    made.in = std::move(in);
    made.out = out;
    return made;
  };
  const Node ends = node(NodeKind::Return, {0}, rpc::graph::kNoRegister);
  CHECK_NOTHROW(function_of({node(NodeKind::Copy, {0}, 2), ends}, 3));
  CHECK_THROWS_WITH(function_of({}, 2), "graph function f: it does not return");
  CHECK_THROWS_WITH(function_of({node(NodeKind::Copy, {0}, 2)}, 3), "graph function f: it does not return");
  CHECK_THROWS_WITH(function_of({ends}, 1), Contains("fewer registers"));
  CHECK_THROWS_WITH(function_of({ends}, 65'537), Contains("may have 65536"));
  CHECK_THROWS_WITH(function_of({node(NodeKind::Copy, {2}, 2), ends}, 3),
                    Contains("node 1 (copy) uses a register that is not"));
  CHECK_THROWS_WITH(function_of({node(NodeKind::Copy, {9}, 2), ends}, 3),
                    Contains("uses a register that is not defined"));
  CHECK_THROWS_WITH(function_of({node(NodeKind::Copy, {0}, 3), ends}, 3), Contains("defines a register that is taken"));
  CHECK_THROWS_WITH(function_of({node(NodeKind::Copy, {0}, 0), ends}, 3), Contains("defines a register that is taken"));
  CHECK_THROWS_WITH(function_of({node(NodeKind::Assign, {0}, 1), ends}, 3), Contains("assigns to a constant"));
  CHECK_THROWS_WITH(function_of({node(NodeKind::Assign, {0}, 2), ends}, 3), Contains("not defined there"));
  CHECK_THROWS_WITH(function_of({node(NodeKind::Map, {0}, 2), ends}, 3), Contains("another number of inputs"));
  CHECK_THROWS_WITH(function_of({node(NodeKind::ForEach, {0, 0, 0}, 2), ends}, 3),
                    Contains("another number of inputs"));
  CHECK_THROWS_WITH(function_of({node(NodeKind::Call, {}, 2), ends}, 3), Contains("that it does not have"));
  CHECK_THROWS_WITH(function_of({node(NodeKind::Operator, {}, 2), ends}, 3), Contains("there is no operator named"));
}

}  // namespace distrun
