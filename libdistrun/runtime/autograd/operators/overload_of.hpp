#pragma once
// Converts a function to an entry of the operator table: its parameter types determine the kinds.
#include <optional>
#include <type_traits>
#include <utility>

#include <distrun/runtime/autograd/operators/overload.hpp>

namespace distrun::autograd::detail {

Scalar number_of(const Value& value);
double float_of(const Value& value);

template <class T>
struct Taken;
template <>
struct Taken<Tensor> {
  static constexpr Parameter kParameter = Parameter::Tensor;
  static Tensor from(const Value& value) {
    return std::holds_alternative<std::monostate>(value) ? Tensor() : std::get<Tensor>(value);
  }
};
// A tensor that may be left out.
struct TensorOrNone : Tensor {};
template <>
struct Taken<TensorOrNone> {
  static constexpr Parameter kParameter = Parameter::OptionalTensor;
  static TensorOrNone from(const Value& value) { return {Taken<Tensor>::from(value)}; }
};
template <>
struct Taken<TensorList> {
  static constexpr Parameter kParameter = Parameter::Tensors;
  static TensorList from(const Value& value) { return std::get<TensorList>(value); }
};
template <>
struct Taken<Scalar> {
  static constexpr Parameter kParameter = Parameter::Number;
  static Scalar from(const Value& value) { return number_of(value); }
};
template <>
struct Taken<double> {
  static constexpr Parameter kParameter = Parameter::Float;
  static double from(const Value& value) { return float_of(value); }
};
template <>
struct Taken<std::int64_t> {
  static constexpr Parameter kParameter = Parameter::Int;
  static std::int64_t from(const Value& value) { return std::get<std::int64_t>(value); }
};
template <>
struct Taken<bool> {
  static constexpr Parameter kParameter = Parameter::Bool;
  static bool from(const Value& value) { return std::get<bool>(value); }
};
template <>
struct Taken<std::string> {
  static constexpr Parameter kParameter = Parameter::String;
  static std::string from(const Value& value) { return std::get<std::string>(value); }
};
template <>
struct Taken<Dims> {
  static constexpr Parameter kParameter = Parameter::Ints;
  static Dims from(const Value& value) { return Dims(std::get<IntList>(value)); }
};

Value value_of(Tensor result);
Value value_of(TensorList result);
Value value_of(bool result);
Value value_of(std::int64_t result);
Value value_of(double result);
Value value_of(const Scalar& result);

template <class Result, class... Arguments, std::size_t... kIndex>
Overload make_overload(Result (*function)(Arguments...), std::vector<Value> defaults, std::index_sequence<kIndex...>) {
  const auto run = [function](std::span<const Value> values) {
    return value_of(function(Taken<std::remove_cvref_t<Arguments>>::from(values[kIndex])...));
  };
  return {{Taken<std::remove_cvref_t<Arguments>>::kParameter...}, std::move(defaults), run};
}

// `defaults` belong to the last parameters.
template <class Result, class... Arguments>
Overload overload(Result (*function)(Arguments...), std::vector<Value> defaults = {}) {
  return make_overload(function, std::move(defaults), std::index_sequence_for<Arguments...>());
}

}  // namespace distrun::autograd::detail
