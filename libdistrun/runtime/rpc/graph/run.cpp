#include <distrun/runtime/rpc/graph/run.hpp>

#include <algorithm>
#include <array>
#include <optional>

#include <distrun/common/base/error.hpp>
#include <distrun/runtime/rpc/functions/operators.hpp>
#include <distrun/runtime/rpc/graph/arithmetic.hpp>
#include <distrun/runtime/rpc/graph/budget.hpp>
#include <distrun/runtime/rpc/values/convert.hpp>
#include <distrun/runtime/tensor/core/copy.hpp>

namespace distrun::rpc {
namespace {

using detail::Budget;
using detail::Int;
using detail::list_in;
using detail::number_in;
using detail::refuse_operands;
using graph::Arithmetic;
using graph::Block;
using graph::Node;
using graph::NodeKind;
using graph::Register;

[[noreturn]] void refuse(const char* type, const std::string& why) {
  throw Error(ErrorKind::InvalidArgument, type, why);
}

// --- arithmetic ---

// The tensor operator, and the operators that compute the same of a value and a tensor: `mirrored` takes the tensor
// first, `reversed` the value.
struct TensorOperator {
  Arithmetic operation;
  const char* name;
  const char* mirrored;
  const char* reversed = nullptr;
};
constexpr TensorOperator kTensorOperators[] = {
    {Arithmetic::Add, "add", "add"}, {Arithmetic::Sub, "sub", nullptr, "rsub"},
    {Arithmetic::Mul, "mul", "mul"}, {Arithmetic::Div, "div", nullptr, "rdiv"},
    {Arithmetic::Eq, "eq", "eq"},    {Arithmetic::Ne, "ne", "ne"},
    {Arithmetic::Lt, "lt", "gt"},    {Arithmetic::Le, "le", "ge"},
    {Arithmetic::Gt, "gt", "lt"},    {Arithmetic::Ge, "ge", "le"}};

Value of_tensors(Arithmetic operation, const Value& left, const Value& right) {
  for (const TensorOperator& each : kTensorOperators) {
    if (each.operation != operation) continue;
    if (left.kind() == Kind::Tensor) return run_operator(each.name, std::array{left, right});
    if (each.mirrored != nullptr) return run_operator(each.mirrored, std::array{right, left});
    return run_operator(each.reversed, std::array{left, right});
  }
  refuse_operands(operation, left, right);
}

Value join(const ValueList& left, const ValueList& right, bool is_tuple) {
  ValueList items(left);
  items.insert(items.end(), right.begin(), right.end());
  if (is_tuple) return Value(Tuple{std::move(items)});
  return Value(List{std::move(items)});
}

Value of_two(Arithmetic operation, const Value& left, const Value& right) {
  const auto a = number_in(left), b = number_in(right);
  if (a && b) return detail::of_numbers(operation, *a, *b);
  const bool has_tensor = left.kind() == Kind::Tensor || right.kind() == Kind::Tensor;
  if (has_tensor && (a || b || left.kind() == right.kind())) return of_tensors(operation, left, right);
  const auto *const text = left.get_if<std::string>(), *const other = right.get_if<std::string>();
  if (text != nullptr && other != nullptr) return detail::of_strings(operation, *text, *other);
  if (operation == Arithmetic::Eq) return Value(same(left, right));
  if (operation == Arithmetic::Ne) return Value(!same(left, right));
  if (operation == Arithmetic::Add && left.kind() == right.kind() && list_in(left) != nullptr) {
    return join(*list_in(left), *list_in(right), left.kind() == Kind::Tuple);
  }
  refuse_operands(operation, left, right);
}

bool is_true(const Value& value) {
  if (const auto number = number_in(value)) return number->is_float ? number->floating != 0 : number->whole != 0;
  if (const auto* const tensor = value.get_if<Tensor>()) return tensor->item().to<bool>();
  if (const auto* const text = value.get_if<std::string>()) return !text->empty();
  if (const ValueList* const items = list_in(value)) return !items->empty();
  if (const auto* const map = value.get_if<Map>()) return !map->items.empty();
  return !value.is_none();
}

Value of_one(Arithmetic operation, const Value& value) {
  if (operation == Arithmetic::Not) return Value(!is_true(value));
  if (value.kind() == Kind::Tensor) return run_operator("neg", std::span(&value, 1));
  const auto number = number_in(value);
  if (!number) refuse("TypeError", "- does not take " + std::string(name_of(value.kind())));
  if (number->is_float) return Value(-number->floating);
  return Value(detail::calculate(Arithmetic::Sub, Int{0}, number->whole));
}

// --- lists, tuples, maps ---

Int int_in(const Value& value, const char* what) {
  if (const Int* const whole = value.get_if<Int>()) return *whole;
  refuse("TypeError", std::string(what) + " must be int, not " + std::string(name_of(value.kind())));
}

const Value& item_in(const ValueList& items, Int index) {
  const auto size = static_cast<Int>(items.size());
  if (index < -size || index >= size) {
    refuse("IndexError", "there is no item " + std::to_string(index) + " of " + std::to_string(size));
  }
  return items[static_cast<std::size_t>(index < 0 ? index + size : index)];
}

template <class Entries>
auto find_key(Entries& entries, const Value& key) {
  return std::find_if(entries.begin(), entries.end(), [&](const auto& entry) { return same(entry.first, key); });
}

Value item_of(const Value& held, const Value& key) {
  if (const auto* const map = held.get_if<Map>()) {
    const auto found = find_key(map->items, key);
    if (found == map->items.end()) refuse("KeyError", "there is no key " + describe(key));
    return found->second;
  }
  if (held.kind() == Kind::Tensor) return run_operator("select", std::array{held, Value(Int{0}), key});
  const ValueList* const items = list_in(held);
  if (items == nullptr) refuse("TypeError", std::string(name_of(held.kind())) + " has no items");
  return item_in(*items, int_in(key, "the place of an item"));
}

Int size_of(const Value& value) {
  if (const ValueList* const items = list_in(value)) return static_cast<Int>(items->size());
  if (const auto* const map = value.get_if<Map>()) return static_cast<Int>(map->items.size());
  if (const auto* const text = value.get_if<std::string>()) return static_cast<Int>(text->size());
  if (const auto* const tensor = value.get_if<Tensor>()) return tensor->size(0);
  refuse("TypeError", std::string(name_of(value.kind())) + " has no length");
}

// --- the interpreter ---

// Copies the tensors of a constant, so that changes affect this run only.
void own_tensors(Value& value) {
  if (auto* const tensor = value.get_if<Tensor>()) *tensor = tensor::clone(*tensor);
  if (auto* const list = value.get_if<List>()) std::for_each(list->items.begin(), list->items.end(), own_tensors);
  if (auto* const tuple = value.get_if<Tuple>()) std::for_each(tuple->items.begin(), tuple->items.end(), own_tensors);
  if (auto* const map = value.get_if<Map>()) {
    for (auto& entry : map->items) own_tensors(entry.second);
  }
}

// One running function. Register numbers are in range, since GraphFunction has checked them.
class Frame {
 public:
  Frame(const GraphFunction& function, ValueList arguments, Budget& budget)
      : function_(function), budget_(budget), registers_(std::move(arguments)) {
    budget_.take(function.register_count() + function.constant_bytes() / sizeof(Value));
    registers_.reserve(function.register_count());
    registers_.insert(registers_.end(), function.constants().begin(), function.constants().end());
    if (function.constant_bytes() > 0) {
      const auto first = registers_.begin() + static_cast<std::ptrdiff_t>(function.parameters().size());
      std::for_each(first, registers_.end(), own_tensors);
    }
    registers_.resize(function.register_count());
  }

  Value run() {
    run(function_.body());
    return std::move(returned_);
  }

 private:
  // Runs `work`; adds the node to the context of errors.
  template <class Work>
  auto tell(const Node& node, const Work& work) const {
    try {
      return work();
    } catch (Error& error) {
      error.while_doing("in graph function " + function_.name() + ", node " + std::to_string(node.number) + " (" +
                        describe(node, function_) + ")");
      throw;
    }
  }

  // Returns whether the function has returned.
  bool run(const Block& block) {
    for (const Node& node : block.nodes) {
      budget_.take(1);
      if (run(node)) return true;
    }
    return false;
  }

  bool run(const Node& node) {
    switch (node.kind) {
      case NodeKind::ForEach: return run_loop(node);
      case NodeKind::If: return run(node.blocks[tell(node, [&] { return is_true(in(node, 0)); }) ? 0 : 1]);
      case NodeKind::Raise: raise(node);
      case NodeKind::Return: returned_ = in(node, 0); return true;
      default: registers_[node.out] = tell(node, [&] { return result_of(node); }); return false;
    }
  }

  bool run_loop(const Node& node) {
    struct Range {
      Int begin;
      std::uint64_t count;
      Int step;
    };
    const Range range = tell(node, [&] {
      const Int begin = int_in(in(node, 0), "the begin of a loop"), end = int_in(in(node, 1), "the end of a loop");
      const Int step = int_in(in(node, 2), "the step of a loop");
      if (step == 0) refuse("ValueError", "the step of a loop must not be zero");
      if (step > 0 ? begin >= end : begin <= end) return Range{begin, 0, step};
      const auto from = static_cast<std::uint64_t>(begin), to = static_cast<std::uint64_t>(end);
      const std::uint64_t length = step > 0 ? to - from : from - to;
      const std::uint64_t stride = step > 0 ? static_cast<std::uint64_t>(step) : 0 - static_cast<std::uint64_t>(step);
      return Range{begin, (length - 1) / stride + 1, step};
    });
    auto next = static_cast<std::uint64_t>(range.begin);
    for (std::uint64_t i = 0; i < range.count; ++i, next += static_cast<std::uint64_t>(range.step)) {
      budget_.take(1);
      registers_[node.out] = Value(static_cast<Int>(next));
      if (run(node.blocks[0])) return true;
    }
    return false;
  }

  [[noreturn]] void raise(const Node& node) const {
    const Value& text = in(node, 0);
    const std::string* const given = text.get_if<std::string>();
    throw Error(ErrorKind::Failed, node.name, given != nullptr ? *given : rpc::describe(text));
  }

  Value result_of(const Node& node) {
    switch (node.kind) {
      case NodeKind::Operator: return run_operator(node.name, all(node));
      case NodeKind::Arithmetic: return is_unary(node.operation) ? of_one(node.operation, in(node, 0)) : binary(node);
      case NodeKind::List: return Value(List{all(node)});
      case NodeKind::Tuple: return Value(Tuple{all(node)});
      case NodeKind::Map: return map_of(node);
      case NodeKind::Item: return item(node);
      case NodeKind::Size: return Value(size_of(in(node, 0)));
      case NodeKind::Call: return Frame(*function_.callees()[node.callee], all(node), budget_).run();
      default: budget_.admit(registers_, node.in); return in(node, 0);  // Copy, Assign
    }
  }

  Value binary(const Node& node) {
    const Value &left = in(node, 0), &right = in(node, 1);
    if (!number_in(left) || !number_in(right)) budget_.admit(registers_, node.in);
    return of_two(node.operation, left, right);
  }

  Value item(const Node& node) {
    const auto* const map = in(node, 0).get_if<Map>();
    if (map != nullptr) budget_.take(map->items.size() / 8);
    const Value found = item_of(in(node, 0), in(node, 1));
    budget_.admit(found);
    return found;
  }

  // Keeps the last value of equal keys, at the position of the first.
  Value map_of(const Node& node) {
    budget_.take(node.in.size() * budget_.admit(registers_, node.in).items / 8);
    Map map;
    for (std::size_t i = 0; i < node.in.size(); i += 2) {
      const auto found = find_key(map.items, in(node, i));
      if (found != map.items.end()) {
        found->second = in(node, i + 1);
      } else {
        map.items.emplace_back(in(node, i), in(node, i + 1));
      }
    }
    return Value(std::move(map));
  }

  const Value& in(const Node& node, std::size_t place) const { return registers_[node.in[place]]; }
  ValueList all(const Node& node) {
    budget_.admit(registers_, node.in);
    ValueList values;
    values.reserve(node.in.size());
    for (const Register in : node.in) values.push_back(registers_[in]);
    return values;
  }

  const GraphFunction& function_;
  Budget& budget_;
  ValueList registers_;
  Value returned_;
};

}  // namespace

Value run_graph(const GraphFunction& function, ValueList arguments, const GraphRunLimits& limits) {
  if (arguments.size() != function.parameters().size()) {
    refuse("TypeError", function.name() + "() takes " + std::to_string(function.parameters().size()) +
                            " arguments but " + std::to_string(arguments.size()) + " were given");
  }
  Budget budget(function.name(), limits.steps, limits.poll);
  return Frame(function, std::move(arguments), budget).run();
}

}  // namespace distrun::rpc
