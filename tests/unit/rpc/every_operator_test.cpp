// Every operator of the table can be called wherever operators are: over RPC, in a graph function, and by a trace.
#include <catch2/catch.hpp>

#include <map>

#include <distrun/runtime/rpc/calls/builtin.hpp>
#include <distrun/runtime/rpc/functions/operators.hpp>
#include <distrun/runtime/rpc/graph/codec.hpp>
#include <distrun/runtime/rpc/graph/run.hpp>
#include <distrun/runtime/rpc/graph/trace.hpp>
#include <distrun/runtime/rpc/values/codec.hpp>
#include <distrun/runtime/tensor/closeness.hpp>

#include "support/gpus.hpp"
#include "unit/autograd/sound_arguments.hpp"

namespace distrun {
namespace {

using rpc::GraphValue;
using test::for_each_overload;
using test::Overload;

// Creates the arguments anew: operators may change them.
rpc::ValueList values_for(const std::string& name, const Overload& overload) {
  rpc::ValueList values;
  for (tensor::Value& each : test::sound_arguments(name, overload)) {
    values.push_back(rpc::value_of_result(std::move(each)));
  }
  return values;
}

void check_same(const rpc::Value& result, const rpc::Value& expected) {
  REQUIRE(result.kind() == expected.kind());
  if (const Tensor* const tensor = expected.get_if<Tensor>()) {
    CHECK(tensor::difference(*result.get_if<Tensor>(), *tensor).value_or("") == "");
  } else if (const rpc::List* const list = expected.get_if<rpc::List>()) {
    const rpc::ValueList& items = result.get_if<rpc::List>()->items;
    REQUIRE(items.size() == list->items.size());
    for (std::size_t i = 0; i < items.size(); ++i) check_same(items[i], list->items[i]);
  } else {
    CHECK(rpc::pack(result).bytes == rpc::pack(expected).bytes);
  }
}

// Compares call(name, values) with the operator's result, for each overload. Random numbers have the same seed.
template <class Call>
void check_every_operator(const Call& call) {
  testing::use_gpus();
  for_each_overload([&](const std::string& name, const autograd::Operator&, const Overload& overload) {
    manual_seed(1);
    const rpc::Value expected = rpc::value_of_result(overload.run(test::sound_arguments(name, overload)));
    manual_seed(1);
    check_same(call(name, values_for(name, overload)), expected);
  });
}

// Returns the functions that trace.hpp has for values of graph functions.
std::map<std::string, GraphValue (*)(const GraphValue&)> traced_functions() {
  std::map<std::string, GraphValue (*)(const GraphValue&)> functions;
#define DISTRUN_OPERATOR(name, ...) functions.emplace(#name, [](const GraphValue& x) { return distrun::name(x); });
#define DISTRUN_OPERATOR_BY_NAME(name, why, ...)
#include <distrun/runtime/autograd/operators/operator_entries.inc>
#undef DISTRUN_OPERATOR
#undef DISTRUN_OPERATOR_BY_NAME
  return functions;
}

}  // namespace

TEST_CASE("every operator of the table computes the same when a remote worker calls it") {
  check_every_operator([](const std::string& name, rpc::ValueList values) {
    return rpc::run_builtin(name, {std::move(values), {}});
  });
}

TEST_CASE("every operator of the table computes the same in a graph function that was sent") {
  check_every_operator([](const std::string& name, rpc::ValueList values) {
    rpc::GraphBuilder builder("calls_" + name);
    std::vector<rpc::GraphOperand> operands;
    for (std::size_t i = 0; i < values.size(); ++i) operands.push_back(builder.parameter("x" + std::to_string(i)));
    const auto built = builder.returns(rpc::detail::record_operator(name, operands));
    const rpc::Packed& sent = built->encoded();
    return rpc::run_graph(*rpc::decode_graph(wire::view_of(sent.bytes), sent.tensors), std::move(values));
  });
}

TEST_CASE("every operator of the table is traced under its name, or says why not") {
  const auto functions = traced_functions();
  for (const auto& [name, entry] : autograd::operator_list()) {
    INFO(name << ": " << entry.by_name);
    const auto found = functions.find(name);
    REQUIRE((found == functions.end()) == !entry.by_name.empty());
    if (found == functions.end()) continue;
    const auto traced = rpc::trace("f", {"x"}, found->second);
    CHECK(traced->body().nodes.front().name == name);
  }
}

}  // namespace distrun
