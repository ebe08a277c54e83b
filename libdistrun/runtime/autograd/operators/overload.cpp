#include <distrun/runtime/autograd/operators/overload.hpp>

#include <array>

namespace distrun::autograd {
namespace {

bool fits(Parameter parameter, const Value& value) noexcept {
  const ValueKind kind = kind_of(value);
  switch (parameter) {
    case Parameter::Tensor: return kind == ValueKind::Tensor;
    case Parameter::OptionalTensor: return kind == ValueKind::Tensor || kind == ValueKind::None;
    case Parameter::Tensors: return kind == ValueKind::Tensors;
    case Parameter::Number: return kind == ValueKind::Int || kind == ValueKind::Float || kind == ValueKind::Bool;
    case Parameter::Int: return kind == ValueKind::Int;
    case Parameter::Float: return kind == ValueKind::Float || kind == ValueKind::Int;
    case Parameter::Bool: return kind == ValueKind::Bool;
    case Parameter::String: return kind == ValueKind::String;
    case Parameter::Ints: return kind == ValueKind::Ints;
  }
  return false;
}

std::string text_of(const Value& value) {
  switch (kind_of(value)) {
    case ValueKind::Bool: return std::get<bool>(value) ? "true" : "false";
    case ValueKind::Int: return std::to_string(std::get<std::int64_t>(value));
    case ValueKind::Float: return tensor::to_string(Scalar(std::get<double>(value)));
    case ValueKind::String: return "\"" + std::get<std::string>(value) + "\"";
    case ValueKind::Ints: return device::to_string(Dims(std::get<IntList>(value)));
    default: return "none";
  }
}

}  // namespace

std::string_view name_of(Parameter parameter) noexcept {
  static constexpr std::array<std::string_view, 9> kNames = {"Tensor", "Tensor?", "Tensor[]", "number", "int",
                                                             "float",  "bool",    "str",      "int[]"};
  return kNames[static_cast<std::size_t>(parameter)];
}

bool Overload::takes(std::span<const Value> arguments) const noexcept {
  if (arguments.size() > parameters.size() || arguments.size() + defaults.size() < parameters.size()) return false;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (!fits(parameters[i], arguments[i])) return false;
  }
  return true;
}

std::string to_string(const Overload& overload) {
  std::string text;
  const std::size_t required = overload.parameters.size() - overload.defaults.size();
  for (std::size_t i = 0; i < overload.parameters.size(); ++i) {
    text += (i == 0 ? "" : ", ");
    text += name_of(overload.parameters[i]);
    if (i >= required) text += " = " + text_of(overload.defaults[i - required]);
  }
  return "(" + text + ")";
}

}  // namespace distrun::autograd
