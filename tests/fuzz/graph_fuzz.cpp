// A graph function as another worker sends it. Any input is refused, or stays the same when it is written and read
// again, and runs within its bounds.
#include <algorithm>

#include <distrun/common/base/error.hpp>
#include <distrun/runtime/rpc/graph/codec.hpp>
#include <distrun/runtime/rpc/graph/run.hpp>
#include <distrun/runtime/tensor/core/factories.hpp>

#include "fuzz.hpp"

namespace {

using namespace distrun;
using fuzz::require;
using rpc::GraphFunction;
using rpc::graph::Block;
using rpc::graph::Node;
using rpc::graph::NodeKind;

const TensorList& tensors() {
  static const TensorList* const list = new TensorList{tensor::ones({2}), tensor::zeros({})};
  return *list;
}

std::shared_ptr<const GraphFunction> read(wire::BytesView bytes, const TensorList& beside) {
  try {
    return rpc::decode_graph(bytes, beside);
  } catch (const Error&) {
    return nullptr;
  }
}

void check_registers(const GraphFunction& function, const Block& block) {
  for (const Node& node : block.nodes) {
    for (const rpc::graph::Register in : node.in) require(in < function.register_count(), "registers are there");
    require(node.out < function.register_count() || node.out == rpc::graph::kNoRegister, "results have a register");
    require(node.kind != NodeKind::Call || node.callee < function.callees().size(), "what is called is there");
    for (const Block& inner : node.blocks) check_registers(function, inner);
  }
}

// Operators may allocate any amount of memory, as they may when called by name.
bool has_operators(const Block& block) {
  return std::any_of(block.nodes.begin(), block.nodes.end(), [](const Node& node) {
    return node.kind == NodeKind::Operator || std::any_of(node.blocks.begin(), node.blocks.end(), has_operators);
  });
}
bool has_operators(const GraphFunction& function) {
  const auto& callees = function.callees();
  return has_operators(function.body()) ||
         std::any_of(callees.begin(), callees.end(), [](const auto& callee) { return has_operators(*callee); });
}

void run(const GraphFunction& function) {
  const rpc::ValueList choice{rpc::Value(std::int64_t{3}), rpc::Value(tensor::ones({2})), rpc::Value(std::string("x"))};
  rpc::ValueList arguments;
  for (std::size_t i = 0; i < function.parameters().size(); ++i) arguments.push_back(choice[i % choice.size()]);
  try {
    rpc::run_graph(function, std::move(arguments), {20'000, {}});
  } catch (const Error&) {
    return;
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto function = read(wire::view_of(data, size), tensors());
  if (!function) return 0;
  check_registers(*function, function->body());
  const auto again = read(wire::view_of(function->encoded().bytes), function->encoded().tensors);
  require(again && again->hash() == function->hash(), "what was written is read");
  if (function->callees().size() < 8 && !has_operators(*function)) run(*function);
  return 0;
}
