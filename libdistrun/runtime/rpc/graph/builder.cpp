#include <distrun/runtime/rpc/graph/builder.hpp>

#include <algorithm>

#include <distrun/common/base/error.hpp>
#include <distrun/runtime/autograd/operators/operator_table.hpp>
#include <distrun/runtime/tensor/core/copy.hpp>

namespace distrun::rpc {
namespace detail {

using graph::Arithmetic;
using graph::Block;
using graph::Node;
using graph::NodeKind;
using graph::Register;

// A function under construction. Its registers are numbered in order of creation, and renumbered at the end, since
// parameters and constants come first.
class GraphDraft : public std::enable_shared_from_this<GraphDraft> {
 public:
  explicit GraphDraft(std::string name) : name_(std::move(name)) { blocks_.emplace_back(); }

  // Returns the draft that the first GraphValue among the operands belongs to.
  static GraphDraft& of(const std::vector<GraphOperand>& operands);

  GraphValue add_parameter(std::string name) {
    check_open();
    parts_.parameters.push_back({std::move(name), "any"});
    return make_value(Role::Parameter);
  }
  GraphValue use(GraphOperand operand) { return {shared_from_this(), place_of(operand)}; }
  void check_variable(const GraphValue& variable) {
    if (places_[check(variable)].role == Role::Constant)
      refuse("a constant can't be assigned to: make it a variable()");
  }

  Node make_node(NodeKind kind, const std::vector<GraphOperand>& operands) {
    check_open();
    Node node;
    node.kind = kind;
    for (const GraphOperand& operand : operands) node.in.push_back(static_cast<Register>(place_of(operand)));
    return node;
  }
  void add(Node node) { blocks_.back().nodes.push_back(std::move(node)); }
  GraphValue add_with_result(Node node) {
    GraphValue result = make_value(Role::Local);
    node.out = static_cast<Register>(result.place_);
    add(std::move(node));
    return result;
  }
  void add_assignment(const GraphValue& variable, Node node) {
    check_variable(variable);
    node.out = static_cast<Register>(variable.place_);
    add(std::move(node));
  }
  void add_loop(Node node, const GraphBuilder::LoopBody& body) {
    node.blocks.push_back(make_block([&] {
      const GraphValue variable = make_value(Role::Local);
      node.out = static_cast<Register>(variable.place_);
      body(variable);
    }));
    add(std::move(node));
  }
  Block make_block(const std::function<void()>& body) {
    blocks_.emplace_back();
    const std::size_t first = places_.size();
    if (body) body();
    for (std::size_t i = first; i < places_.size(); ++i) places_[i].is_over = places_[i].role == Role::Local;
    Block block = std::move(blocks_.back());
    blocks_.pop_back();
    return block;
  }
  std::uint32_t callee(const GraphBuilder::Function& function) {
    if (!function) refuse("it calls a function that is null");
    const auto found = std::find(parts_.callees.begin(), parts_.callees.end(), function);
    if (found != parts_.callees.end()) return static_cast<std::uint32_t>(found - parts_.callees.begin());
    parts_.callees.push_back(function);
    return static_cast<std::uint32_t>(parts_.callees.size() - 1);
  }

  GraphBuilder::Function finish(GraphOperand value) {
    if (blocks_.size() != 1) refuse("it is not finished: a block is open; use return_now() there");
    add(make_node(NodeKind::Return, {std::move(value)}));
    is_finished_ = true;
    for (Place& place : places_) place.number = first_of(place.role) + place.number;
    parts_.register_count = static_cast<std::uint32_t>(places_.size());
    parts_.name = name_;
    parts_.body = std::move(blocks_.back());
    renumber(parts_.body);
    auto function = std::make_shared<const GraphFunction>(std::move(parts_));
    function->encoded();
    return function;
  }

  [[noreturn]] void refuse(const std::string& why) const {
    throw Error(ErrorKind::InvalidArgument, "graph function " + name_ + ": " + why);
  }

 private:
  enum class Role : std::uint8_t { Parameter, Constant, Local };
  struct Place {
    Role role{};
    Register number = 0;  // within its role; at the end, among all registers
    bool is_over = false;
  };

  GraphValue make_value(Role role) {
    if (places_.size() >= kGraphRegistersMax) {
      throw Error(ErrorKind::Overloaded,
                  "graph function " + name_ + " has more than " + std::to_string(kGraphRegistersMax) + " values");
    }
    places_.push_back({role, counts_[static_cast<std::size_t>(role)]++});
    return {shared_from_this(), places_.size() - 1};
  }
  std::size_t place_of(const GraphOperand& operand) {
    if (const auto* const value = std::get_if<GraphValue>(&operand.held_)) return check(*value);
    check_open();
    parts_.constants.push_back(own(std::get<Value>(operand.held_)));
    return make_value(Role::Constant).place_;
  }
  // Copies a tensor, so that later changes have no effect.
  static Value own(Value constant) {
    if (auto* const tensor = constant.get_if<Tensor>(); tensor != nullptr && tensor->defined()) {
      *tensor = tensor::clone(*tensor);
    }
    return constant;
  }
  std::size_t check(const GraphValue& value) const {
    check_open();
    if (value.draft_.get() != this) refuse("a value of graph function " + value.draft_->name_ + " is used");
    if (places_[value.place_].is_over) refuse("a value is used outside of the block that makes it");
    return value.place_;
  }
  void check_open() const {
    if (is_finished_) {
      throw Error(ErrorKind::InvalidArgument, "this graph function is finished, and nothing can be added to it");
    }
  }

  Register first_of(Role role) const {
    Register first = 0;
    for (std::size_t i = 0; i < static_cast<std::size_t>(role); ++i) first += counts_[i];
    return first;
  }
  void renumber(Block& block) {
    for (Node& node : block.nodes) {
      for (Register& in : node.in) in = places_[in].number;
      if (node.out != graph::kNoRegister) node.out = places_[node.out].number;
      for (Block& inner : node.blocks) renumber(inner);
    }
  }

  const std::string name_;
  GraphFunction::Parts parts_;
  std::vector<Place> places_;
  Register counts_[3] = {0, 0, 0};  // by role
  std::vector<Block> blocks_;       // open blocks, the innermost last
  bool is_finished_ = false;
};

GraphDraft& GraphDraft::of(const std::vector<GraphOperand>& operands) {
  for (const GraphOperand& operand : operands) {
    if (const auto* const value = std::get_if<GraphValue>(&operand.held_)) return *value->draft_;
  }
  throw Error(ErrorKind::InvalidArgument, "constants are calculated with in C++");
}

GraphValue calculate(Arithmetic operation, std::vector<GraphOperand> operands) {
  GraphDraft& draft = GraphDraft::of(operands);
  Node node = draft.make_node(NodeKind::Arithmetic, operands);
  node.operation = operation;
  return draft.add_with_result(std::move(node));
}

GraphValue add_operator(GraphDraft& draft, const std::string& name, const std::vector<GraphOperand>& operands) {
  if (autograd::find_operator(name) == nullptr) throw autograd::no_operator(name);
  Node node = draft.make_node(NodeKind::Operator, operands);
  node.name = name;
  return draft.add_with_result(std::move(node));
}

GraphValue record_operator(const std::string& name, const std::vector<GraphOperand>& operands) {
  return add_operator(GraphDraft::of(operands), name, operands);
}

GraphOperand list_operand(const std::vector<GraphValue>& items) {
  if (items.empty()) return Value(List{});
  const std::vector<GraphOperand> operands(items.begin(), items.end());
  GraphDraft& draft = GraphDraft::of(operands);
  return draft.add_with_result(draft.make_node(NodeKind::List, operands));
}

}  // namespace detail

using graph::Node;
using graph::NodeKind;

GraphValue GraphValue::size(std::int64_t dim) const { return detail::add_operator(*draft_, "size", {*this, dim}); }
GraphValue GraphValue::numel() const { return detail::add_operator(*draft_, "numel", {*this}); }
GraphValue GraphValue::item() const { return detail::add_operator(*draft_, "item", {*this}); }

GraphBuilder::GraphBuilder(std::string name) : draft_(std::make_shared<detail::GraphDraft>(std::move(name))) {}

GraphValue GraphBuilder::parameter(std::string name) { return draft_->add_parameter(std::move(name)); }
GraphValue GraphBuilder::constant(GraphOperand value) { return draft_->use(std::move(value)); }
GraphValue GraphBuilder::variable(GraphOperand value) { return add(NodeKind::Copy, {std::move(value)}); }

void GraphBuilder::assign(const GraphValue& variable, GraphOperand value) {
  draft_->add_assignment(variable, draft_->make_node(NodeKind::Assign, {std::move(value)}));
}

GraphValue GraphBuilder::add(NodeKind kind, std::vector<GraphOperand> operands) {
  return draft_->add_with_result(draft_->make_node(kind, operands));
}

GraphValue GraphBuilder::add_operator(const std::string& name, std::vector<GraphOperand> operands) {
  return detail::add_operator(*draft_, name, operands);
}

GraphValue GraphBuilder::add_call(const Function& function, std::vector<GraphOperand> operands) {
  Node node = draft_->make_node(NodeKind::Call, operands);
  node.callee = draft_->callee(function);
  if (function->parameters().size() != operands.size()) {
    draft_->refuse(to_string(*function) + " is called with " + std::to_string(operands.size()) + " arguments");
  }
  return draft_->add_with_result(std::move(node));
}

void GraphBuilder::for_each(GraphOperand begin, GraphOperand end, const LoopBody& body) {
  for_each(std::move(begin), std::move(end), 1, body);
}
void GraphBuilder::for_each(GraphOperand begin, GraphOperand end, GraphOperand step, const LoopBody& body) {
  draft_->add_loop(draft_->make_node(NodeKind::ForEach, {std::move(begin), std::move(end), std::move(step)}), body);
}
void GraphBuilder::branch(GraphOperand condition, const Body& then, const Body& otherwise) {
  Node node = draft_->make_node(NodeKind::If, {std::move(condition)});
  node.blocks.push_back(draft_->make_block(then));
  node.blocks.push_back(draft_->make_block(otherwise));
  draft_->add(std::move(node));
}

GraphValue GraphBuilder::map(const std::vector<std::pair<GraphOperand, GraphOperand>>& entries) {
  std::vector<GraphOperand> operands;
  for (const auto& [key, value] : entries) {
    operands.push_back(key);
    operands.push_back(value);
  }
  return add(NodeKind::Map, std::move(operands));
}
GraphValue GraphBuilder::item(GraphOperand container, GraphOperand key) {
  return add(NodeKind::Item, {std::move(container), std::move(key)});
}
GraphValue GraphBuilder::size(GraphOperand container) { return add(NodeKind::Size, {std::move(container)}); }
GraphValue GraphBuilder::floor_div(GraphOperand left, GraphOperand right) {
  Node node = draft_->make_node(NodeKind::Arithmetic, {std::move(left), std::move(right)});
  node.operation = graph::Arithmetic::FloorDiv;
  return draft_->add_with_result(std::move(node));
}

void GraphBuilder::raise(GraphOperand text, std::string type) {
  Node node = draft_->make_node(NodeKind::Raise, {std::move(text)});
  node.name = std::move(type);
  draft_->add(std::move(node));
}
void GraphBuilder::return_now(GraphOperand value) {
  draft_->add(draft_->make_node(NodeKind::Return, {std::move(value)}));
}

GraphBuilder::Function GraphBuilder::returns(GraphOperand value) { return draft_->finish(std::move(value)); }
GraphBuilder::Function GraphBuilder::returns() { return returns(Value()); }

}  // namespace distrun::rpc
