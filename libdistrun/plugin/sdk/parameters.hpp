#pragma once
// Parameters of tests: a product of axes, each a key with its values.
//
//   DISTRUN_TEST(AllReduce, sums,
//                .parameters = product(axis("dtype", {"f32", "f64"}), axis("count", {1, 4096})))
//
// declares AllReduce.sums/dtype=f32,count=1 and three more; each body reads its values with
// rank.parameters().get<int>("count").
#include <concepts>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <distrun/common/base/error.hpp>

namespace distrun {

// One choice of values, in order of declaration.
class Parameters {
 public:
  using Entry = std::pair<std::string, std::string>;  // key, value

  Parameters() = default;
  // Keeps the entries' order.
  explicit Parameters(std::vector<Entry> entries) : entries_(std::move(entries)) {}

  const std::vector<Entry>& entries() const noexcept { return entries_; }  // in order of declaration
  bool empty() const noexcept { return entries_.empty(); }                 // of a test without parameters
  // Throws Error{InvalidArgument, KeyError} with the existing keys.
  const std::string& text(std::string_view key) const;
  // Returns a number, bool ("true", "false") or string. Throws Error{InvalidArgument} if the text is not a T, or out of
  // range.
  template <class T>
  T get(std::string_view key) const {
    if constexpr (std::is_same_v<T, std::string>) {
      return text(key);
    } else if constexpr (std::is_same_v<T, bool>) {
      return as_bool(key);
    } else if constexpr (std::is_integral_v<T>) {
      return narrow<T>(key);
    } else {
      static_assert(std::is_floating_point_v<T>, "parameters are numbers, bool or strings");
      return static_cast<T>(as_real(key));
    }
  }
  // Returns "dtype=f32,count=1".
  std::string to_string() const;

 private:
  bool as_bool(std::string_view key) const;
  long long as_signed(std::string_view key) const;
  unsigned long long as_unsigned(std::string_view key) const;
  double as_real(std::string_view key) const;
  [[noreturn]] void refuse(std::string_view key, const char* wanted) const;

  template <class T>
  T narrow(std::string_view key) const {
    if constexpr (std::is_signed_v<T>) {
      const long long wide = as_signed(key);
      if (static_cast<T>(wide) == wide) return static_cast<T>(wide);
    } else {
      const unsigned long long wide = as_unsigned(key);
      if (static_cast<T>(wide) == wide) return static_cast<T>(wide);
    }
    refuse(key, "a number in the range of the requested type");
  }

  std::vector<Entry> entries_;
};

// A key and its values, in order. axis() creates one.
struct Axis {
  std::string key;                  // in ids: "key=value"
  std::vector<std::string> values;  // as they stand in ids
};

namespace detail {
std::string parameter_text(bool value);
std::string parameter_text(char value);
std::string parameter_text(const char* value);
std::string parameter_text(std::string_view value);
// Returns the shortest text that reads back as the same number.
std::string parameter_text(float value);
std::string parameter_text(double value);
template <std::integral T>
std::string parameter_text(T value) {
  return std::to_string(value);
}

template <class Values>
Axis make_axis(std::string key, const Values& values) {
  Axis result{std::move(key), {}};
  for (const auto& value : values) result.values.push_back(parameter_text(value));
  return result;
}
}  // namespace detail

// Creates an axis of numbers, bools, chars or strings; floating-point numbers as the shortest text that reads back.
template <class T>
Axis axis(std::string key, std::initializer_list<T> values) {
  return detail::make_axis(std::move(key), values);
}
template <class T>
Axis axis(std::string key, const std::vector<T>& values) {
  return detail::make_axis(std::move(key), values);
}

// All combinations of the axes' values; the last axis changes fastest.
class Product {
 public:
  Product() = default;
  // Errors of the axes are thrown by elements().
  explicit Product(std::vector<Axis> axes) : axes_(std::move(axes)) {}
  bool empty() const noexcept { return axes_.empty(); }  // without axes
  // Returns one empty Parameters if there are no axes. Throws Error{InvalidArgument} for an axis without values, for a
  // duplicate key or value, for one that an id cannot hold (spaces, ',', a '/' or '=' in a key), and for more than
  // 100000 combinations.
  std::vector<Parameters> elements() const;
  // Returns the element with that text ("dtype=f32,count=1"), without building the others.
  std::optional<Parameters> find(std::string_view text) const;

 private:
  std::vector<Axis> axes_;
};

// Combines axes: product(axis("dtype", {"f32", "f64"}), axis("count", {1, 4096})). The last one changes fastest.
template <class... Axes>
Product product(Axes... axes) {
  return Product(std::vector<Axis>{std::move(axes)...});
}

}  // namespace distrun
