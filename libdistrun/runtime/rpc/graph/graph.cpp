#include <distrun/runtime/rpc/graph/graph.hpp>

#include <algorithm>
#include <array>
#include <optional>

#include <distrun/common/base/error.hpp>
#include <distrun/runtime/autograd/operators/operator_table.hpp>
#include <distrun/runtime/tensor/core/copy.hpp>

namespace distrun::rpc {
namespace {

using graph::Block;
using graph::Node;
using graph::NodeKind;
using graph::Register;
using Parts = GraphFunction::Parts;

[[noreturn]] void refuse(const std::string& function, const std::string& why) {
  throw Error(ErrorKind::InvalidArgument, "graph function " + function + ": " + why);
}

void check_limit(const std::string& function, const char* what, std::size_t count, std::size_t limit) {
  if (count <= limit) return;
  throw Error(ErrorKind::Overloaded, "graph function " + function + " has " + std::to_string(count) + " " + what +
                                         ", and may have " + std::to_string(limit));
}

void check_name(const char* what, const std::string& name) {
  if (!name.empty() && name.size() <= kGraphNameMax) return;
  throw Error(ErrorKind::InvalidArgument, std::string(what) + " has a name of " + std::to_string(name.size()) +
                                              " bytes; 1 to " + std::to_string(kGraphNameMax) + " it may have");
}

// Copies the tensors among the constants, so that later changes by the caller have no effect.
class OwnConstants {
 public:
  explicit OwnConstants(const std::string& function) : function_(function) {}

  void own(Value& value, int depth = 0) {
    if (depth > kDepthMax) refuse(function_, "a constant is too deep");
    switch (value.kind()) {
      case Kind::Tensor: own(*value.get_if<Tensor>()); break;
      case Kind::List: own(value.get_if<List>()->items, depth); break;
      case Kind::Tuple: own(value.get_if<Tuple>()->items, depth); break;
      case Kind::Map:
        for (auto& [key, mapped] : value.get_if<Map>()->items) {
          own(key, depth + 1);
          own(mapped, depth + 1);
        }
        break;
      case Kind::Record:
      case Kind::Instance:
      case Kind::Future: refuse(function_, describe(value) + " can't be a constant; give it as an argument");
      default: break;
    }
  }
  std::size_t bytes() const noexcept { return bytes_; }

 private:
  void own(ValueList& items, int depth) {
    for (Value& item : items) own(item, depth + 1);
  }
  void own(Tensor& tensor) {
    if (!tensor.defined() || tensor.is_sparse() || tensor.device() != device::kCpu) {
      refuse(function_, "a constant must be a dense tensor of the CPU; give others as arguments");
    }
    const auto numel = static_cast<std::size_t>(tensor.numel());
    check_limit(function_, "elements in a constant", numel, kGraphBytesMax);
    bytes_ += numel * tensor::size_of(tensor.dtype());
    check_limit(function_, "bytes of constants", bytes_, kGraphBytesMax);
    tensor = tensor::clone(tensor);
  }

  const std::string& function_;
  std::size_t bytes_ = 0;
};

// How many registers a node reads, how many blocks it has, and whether it defines a register.
struct Shape {
  std::optional<std::size_t> in;  // nullopt: any number
  std::size_t blocks = 0;
  bool has_out = true;
};

Shape shape_of(const Node& node, const Parts& parts) {
  switch (node.kind) {
    case NodeKind::Operator:
    case NodeKind::List:
    case NodeKind::Tuple:
    case NodeKind::Map: return {};
    case NodeKind::Arithmetic: return {is_unary(node.operation) ? std::size_t{1} : std::size_t{2}};
    case NodeKind::Copy:
    case NodeKind::Assign:
    case NodeKind::Size: return {1};
    case NodeKind::ForEach: return {3, 1};
    case NodeKind::If: return {1, 2, false};
    case NodeKind::Item: return {2};
    case NodeKind::Call:
      if (node.callee >= parts.callees.size()) refuse(parts.name, "a function is called that it does not have");
      return {parts.callees[node.callee]->parameters().size()};
    case NodeKind::Raise:
    case NodeKind::Return: return {1, 0, false};
  }
  refuse(parts.name, "a node is of no known kind");
}

// Walks the function in source order and tracks the registers that are visible at each node.
class Check {
 public:
  explicit Check(Parts& parts) : parts_(parts) {}

  int run() {
    check_limit(parts_.name, "registers", parts_.register_count, kGraphRegistersMax);
    const std::size_t given = parts_.parameters.size() + parts_.constants.size();
    if (given > parts_.register_count) refuse(parts_.name, "it has fewer registers than parameters and constants");
    is_seen_.assign(parts_.register_count, false);
    std::fill_n(is_seen_.begin(), given, true);
    check(parts_.body, 1);
    const std::vector<Node>& nodes = parts_.body.nodes;
    const bool is_ended =
        !nodes.empty() && (nodes.back().kind == NodeKind::Return || nodes.back().kind == NodeKind::Raise);
    if (!is_ended) refuse(parts_.name, "it does not return");
    return depth_;
  }

 private:
  void check(Block& block, int depth) {
    check_depth(depth);
    const std::size_t outside = defined_.size();
    for (Node& node : block.nodes) check(node, depth);
    while (defined_.size() > outside) {
      is_seen_[defined_.back()] = false;
      defined_.pop_back();
    }
  }

  void check(Node& node, int depth) {
    node.number = ++nodes_;
    check_limit(parts_.name, "nodes", nodes_, kGraphNodesMax);
    const Shape shape = shape_of(node, parts_);
    if ((shape.in && node.in.size() != *shape.in) || node.blocks.size() != shape.blocks ||
        (node.kind == NodeKind::Map && node.in.size() % 2 != 0)) {
      refuse(node, "has another number of inputs or blocks than it needs");
    }
    for (const Register in : node.in) check_seen(node, in);
    if (node.kind == NodeKind::Operator) check_operator(node.name);
    if (node.kind == NodeKind::Raise) check_name("the type of an error", node.name);
    if (node.kind == NodeKind::Call) check_depth(depth + parts_.callees[node.callee]->depth());
    if (node.kind == NodeKind::ForEach) return check_loop(node, depth);
    for (Block& block : node.blocks) check(block, depth + 1);
    if (node.kind == NodeKind::Assign) {
      check_assigned(node);
    } else if (shape.has_out) {
      define(node);
    } else if (node.out != graph::kNoRegister) {
      refuse(node, "defines a register, and has no result");
    }
  }

  // The loop variable is visible only in the body.
  void check_loop(Node& node, int depth) {
    define(node);
    check(node.blocks[0], depth + 1);
    is_seen_[node.out] = false;
    defined_.pop_back();
  }

  void check_seen(const Node& node, Register used) {
#ifndef DISTRUN_FUZZ_PLANTED_BUG
    if (used >= parts_.register_count || !is_seen_[used]) refuse(node, "uses a register that is not defined there");
#else
    if (used < parts_.register_count && !is_seen_[used]) refuse(node, "uses a register that is not defined there");
#endif
  }
  void check_assigned(const Node& node) {
    check_seen(node, node.out);
    const std::size_t parameters = parts_.parameters.size();
    if (node.out >= parameters && node.out < parameters + parts_.constants.size())
      refuse(node, "assigns to a constant");
  }
  void define(const Node& node) {
    if (node.out >= parts_.register_count || is_seen_[node.out]) refuse(node, "defines a register that is taken");
    is_seen_[node.out] = true;
    defined_.push_back(node.out);
  }
  void check_operator(const std::string& name) const {
    if (autograd::find_operator(name) != nullptr) return;
    throw Error(ErrorKind::InvalidArgument, "AttributeError",
                "graph function " + parts_.name + ": " + autograd::no_operator(name).text());
  }
  void check_depth(int depth) {
    depth_ = std::max(depth_, depth);
    check_limit(parts_.name, "levels of blocks", static_cast<std::size_t>(depth_), kGraphDepthMax);
  }
  [[noreturn]] void refuse(const Node& node, const std::string& why) const {
    rpc::refuse(parts_.name, where(node) + why);
  }
  [[noreturn]] static void refuse(const std::string& function, const std::string& why) { rpc::refuse(function, why); }
  static std::string where(const Node& node) {
    return "node " + std::to_string(node.number) + " (" + name_of(node.kind) + ") ";
  }

  Parts& parts_;
  std::vector<bool> is_seen_;
  std::vector<Register> defined_;  // in open blocks, the innermost last
  std::uint32_t nodes_ = 0;
  int depth_ = 0;
};

void check_parameters(const Parts& parts) {
  std::vector<std::string> names;
  for (const Parameter& parameter : parts.parameters) {
    check_name("a parameter", parameter.name);
    names.push_back(parameter.name);
  }
  std::sort(names.begin(), names.end());
  const auto twice = std::adjacent_find(names.begin(), names.end());
  if (twice != names.end()) refuse(parts.name, "two parameters are named " + *twice);
}

}  // namespace

namespace graph {

const char* name_of(NodeKind kind) noexcept {
  static constexpr std::array<const char*, 14> kNames = {"operator", "arithmetic", "copy",  "assign", "for_each",
                                                         "if",       "list",       "tuple", "map",    "item",
                                                         "size",     "call",       "raise", "return"};
  const auto place = static_cast<std::size_t>(kind);
  return place < kNames.size() ? kNames[place] : "unknown";
}

const char* name_of(Arithmetic operation) noexcept {
  static constexpr std::array<const char*, 14> kNames = {"+",  "-",  "*", "/",  "//", "%",  "-",
                                                         "==", "!=", "<", "<=", ">",  ">=", "not"};
  const auto place = static_cast<std::size_t>(operation);
  return place < kNames.size() ? kNames[place] : "unknown";
}

bool is_unary(Arithmetic operation) noexcept { return operation == Arithmetic::Neg || operation == Arithmetic::Not; }

}  // namespace graph

GraphFunction::GraphFunction(Parts parts) : parts_(std::move(parts)) {
  check_name("a graph function", parts_.name);
  check_parameters(parts_);
  check_limit(parts_.name, "functions that it calls", parts_.callees.size(), kGraphFunctionsMax);
  OwnConstants constants(parts_.name);
  for (Value& constant : parts_.constants) constants.own(constant);
  tensor_bytes_ = constants.bytes();
  depth_ = Check(parts_).run();
}

std::string describe(const graph::Node& node, const GraphFunction& function) {
  switch (node.kind) {
    case NodeKind::Operator: return node.name;
    case NodeKind::Arithmetic: return name_of(node.operation);
    case NodeKind::Call: return function.callees()[node.callee]->name();
    default: return name_of(node.kind);
  }
}

std::string to_string(const GraphFunction& function) {
  std::string text;
  for (const Parameter& parameter : function.parameters()) text += (text.empty() ? "" : ", ") + parameter.name;
  return function.name() + "(" + text + ")";
}

}  // namespace distrun::rpc
