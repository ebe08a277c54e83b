#include <distrun/runtime/rpc/functions/operators.hpp>

#include <algorithm>
#include <map>
#include <optional>

#include <distrun/common/base/error.hpp>
#include <distrun/runtime/autograd/operators/operator_table.hpp>

namespace distrun::rpc {
namespace {

using tensor::IntList;
using Operand = tensor::Value;

template <class T, class Of>
bool all_are(const ValueList& items) {
  return std::all_of(items.begin(), items.end(), [](const Value& each) { return each.get_if<Of>() != nullptr; });
}

template <class List, class Of>
List collect(const ValueList& items) {
  List list;
  list.reserve(items.size());
  for (const Value& each : items) list.push_back(*each.get_if<Of>());
  return list;
}

// Returns the operator's symbol, which Python's error texts use.
std::string symbol_of(std::string_view name) {
  static const std::map<std::string, std::string, std::less<>> symbols{
      {"add", "+"}, {"sub", "-"}, {"mul", "*"}, {"div", "/"}};
  const auto found = symbols.find(name);
  return found == symbols.end() ? std::string(name) : found->second;
}

[[noreturn]] void refuse(std::string_view name, std::span<const Value> arguments) {
  std::string text = "unsupported operand type(s) for " + symbol_of(name) + ": ";
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    text += (i == 0 ? "'" : i + 1 == arguments.size() ? " and '" : ", '");
    text += std::string(name_of(arguments[i].kind())) + "'";
  }
  throw Error(ErrorKind::InvalidArgument, "TypeError", text);
}

// Returns nullopt for a value that no operator takes.
std::optional<Operand> operand_of(const Value& value) {
  switch (value.kind()) {
    case Kind::None: return Operand();
    case Kind::Bool: return Operand(*value.get_if<bool>());
    case Kind::Int: return Operand(*value.get_if<std::int64_t>());
    case Kind::Float: return Operand(*value.get_if<double>());
    case Kind::String: return Operand(*value.get_if<std::string>());
    case Kind::Tensor: return Operand(*value.get_if<Tensor>());
    case Kind::Device: return Operand(device::to_string(*value.get_if<device::Device>()));
    case Kind::List:
    case Kind::Tuple: {
      const ValueList& items = value.kind() == Kind::List ? value.get_if<List>()->items : value.get_if<Tuple>()->items;
      if (!items.empty() && all_are<TensorList, Tensor>(items)) return Operand(collect<TensorList, Tensor>(items));
      if (all_are<IntList, std::int64_t>(items)) return Operand(collect<IntList, std::int64_t>(items));
      return std::nullopt;
    }
    default: return std::nullopt;
  }
}

}  // namespace

std::vector<std::string> operator_names() { return autograd::operator_names(); }
bool is_operator(std::string_view name) { return autograd::find_operator(name) != nullptr; }

bool takes_operands(std::string_view name, std::span<const Value> arguments) {
  const std::vector<autograd::Overload>* const overloads = autograd::find_operator(name);
  if (overloads == nullptr) return false;
  const std::vector<Operand> operands = operands_of(name, arguments);
  return std::any_of(overloads->begin(), overloads->end(), [&](const auto& each) { return each.takes(operands); });
}

std::vector<tensor::Value> operands_of(std::string_view name, std::span<const Value> arguments) {
  std::vector<Operand> operands;
  operands.reserve(arguments.size());
  for (const Value& each : arguments) {
    std::optional<Operand> operand = operand_of(each);
    if (!operand) refuse(name, arguments);
    operands.push_back(std::move(*operand));
  }
  return operands;
}

Value value_of_result(tensor::Value result) {
  if (auto* const tensor = std::get_if<Tensor>(&result)) return Value(std::move(*tensor));
  if (const auto* const flag = std::get_if<bool>(&result)) return Value(*flag);
  if (const auto* const number = std::get_if<std::int64_t>(&result)) return Value(*number);
  if (const auto* const number = std::get_if<double>(&result)) return Value(*number);
  if (auto* const text = std::get_if<std::string>(&result)) return Value(std::move(*text));
  List list;
  if (const auto* const tensors = std::get_if<TensorList>(&result)) {
    for (const Tensor& each : *tensors) list.items.push_back(Value(Tensor(each)));
    return Value(std::move(list));
  }
  if (const auto* const numbers = std::get_if<IntList>(&result)) {
    for (const std::int64_t each : *numbers) list.items.push_back(Value(each));
    return Value(std::move(list));
  }
  return {};
}

Value run_operator(std::string_view name, std::span<const Value> arguments) {
  return value_of_result(autograd::call_operator(name, operands_of(name, arguments)));
}

}  // namespace distrun::rpc
