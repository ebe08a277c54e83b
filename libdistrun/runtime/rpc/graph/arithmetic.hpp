#pragma once
// Arithmetic of graph functions on plain numbers and strings. It follows Python, but ints have 64 bits and wrap around.
// An int combined with a float gives a float; a bool counts as an int.
#include <cmath>
#include <optional>
#include <string>

#include <distrun/common/base/error.hpp>
#include <distrun/runtime/rpc/graph/graph.hpp>

namespace distrun::rpc::detail {

using graph::Arithmetic;
using Int = std::int64_t;

inline constexpr std::size_t kGraphStringMax = std::size_t{1} << 20;

struct Number {
  bool is_float = false;
  Int whole = 0;
  double floating = 0;
};

inline std::optional<Number> number_in(const Value& value) {
  if (const bool* const flag = value.get_if<bool>()) return Number{false, *flag ? 1 : 0, *flag ? 1.0 : 0.0};
  if (const Int* const whole = value.get_if<Int>()) return Number{false, *whole, static_cast<double>(*whole)};
  if (const double* const floating = value.get_if<double>()) return Number{true, 0, *floating};
  return std::nullopt;
}

[[noreturn]] inline void refuse_operands(Arithmetic operation, const Value& left, const Value& right) {
  throw Error(ErrorKind::InvalidArgument, "TypeError",
              std::string(name_of(operation)) + " does not take " + std::string(name_of(left.kind())) + " and " +
                  std::string(name_of(right.kind())));
}

template <class T>
bool compare(Arithmetic operation, const T& left, const T& right) {
  switch (operation) {
    case Arithmetic::Eq: return left == right;
    case Arithmetic::Ne: return left != right;
    case Arithmetic::Lt: return left < right;
    case Arithmetic::Le: return left <= right;
    case Arithmetic::Gt: return left > right;
    default: return left >= right;
  }
}

inline bool is_comparison(Arithmetic operation) { return operation >= Arithmetic::Eq && operation <= Arithmetic::Ge; }

inline double calculate(Arithmetic operation, double left, double right) {
  switch (operation) {
    case Arithmetic::Add: return left + right;
    case Arithmetic::Sub: return left - right;
    case Arithmetic::Mul: return left * right;
    case Arithmetic::Div: return left / right;
    case Arithmetic::FloorDiv: return std::floor(left / right);
    default: break;
  }
  const double rest = std::fmod(left, right);
  return rest != 0 && (rest < 0) != (right < 0) ? rest + right : rest;
}

// Rounds quotients down, with the matching remainder. Overflow wraps around.
inline Int calculate(Arithmetic operation, Int left, Int right) {
  const auto a = static_cast<std::uint64_t>(left), b = static_cast<std::uint64_t>(right);
  switch (operation) {
    case Arithmetic::Add: return static_cast<Int>(a + b);
    case Arithmetic::Sub: return static_cast<Int>(a - b);
    case Arithmetic::Mul: return static_cast<Int>(a * b);
    default: break;
  }
  if (right == -1) return operation == Arithmetic::FloorDiv ? static_cast<Int>(0 - a) : 0;
  const bool is_between = left % right != 0 && (left < 0) != (right < 0);
  if (operation == Arithmetic::FloorDiv) return left / right - (is_between ? 1 : 0);
  return left % right + (is_between ? right : 0);
}

inline Value of_numbers(Arithmetic operation, const Number& left, const Number& right) {
  const bool is_float = left.is_float || right.is_float;
  if (is_comparison(operation)) {
    return Value(is_float ? compare(operation, left.floating, right.floating)
                          : compare(operation, left.whole, right.whole));
  }
  const bool divides = operation >= Arithmetic::Div && operation <= Arithmetic::Mod;
  if (divides && right.floating == 0) throw Error(ErrorKind::InvalidArgument, "ZeroDivisionError", "division by zero");
  if (is_float || operation == Arithmetic::Div) return Value(calculate(operation, left.floating, right.floating));
  return Value(calculate(operation, left.whole, right.whole));
}

inline Value of_strings(Arithmetic operation, const std::string& left, const std::string& right) {
  if (is_comparison(operation)) return Value(compare(operation, left, right));
  if (operation != Arithmetic::Add) refuse_operands(operation, Value(left), Value(right));
  if (left.size() + right.size() > kGraphStringMax) {
    throw Error(ErrorKind::Overloaded, "a string of more than " + std::to_string(kGraphStringMax) + " bytes");
  }
  return Value(left + right);
}

}  // namespace distrun::rpc::detail
