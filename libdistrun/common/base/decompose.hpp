#pragma once
// Takes `a == b` apart so that a failed check can print both operands. Used by DISTRUN_ASSERT and by the checks of the
// SDK. Operands are printed only on failure.
#include <concepts>
#include <memory>
#include <ostream>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

namespace distrun::base {

template <class T>
concept Printable = requires(std::ostream& out, const T& value) {
  out << value;
};

template <class T>
concept Range = requires(const T& value) {
  value.begin();
  value.end();
};

// Returns the shortest decimal text that reads back as the same number: "0.30000000000000004", "1e+22", "nan".
std::string shortest(float value);
std::string shortest(double value);
std::string shortest(long double value);

// Significant digits of floating-point numbers that a type's operator<< prints.
inline constexpr int kUsualDigits = 6;
inline constexpr int kAllDigits = 17;

namespace detail {

std::string quoted(std::string_view text);
std::string shown(long long value);
std::string shown(unsigned long long value);
using Printer = void (*)(std::ostream& out, const void* value);
std::string printed(const void* value, Printer print, int digits);

template <class T>
inline constexpr bool kIsNumber = std::is_integral_v<T> && sizeof(T) <= sizeof(long long) && !std::is_same_v<T, char>;
template <class T>
inline constexpr bool kIsText = std::is_convertible_v<const T&, std::string_view>;

}  // namespace detail

// Formats a value for a failed check: strings quoted, bool by name, floating-point numbers with all their digits,
// ranges up to 32 elements, types without operator<< as "?". `digits` applies to types with an operator<<.
template <class T>
std::string show(const T& value, int digits = kUsualDigits) {
  if constexpr (std::is_same_v<T, bool>) {
    return value ? "true" : "false";
  } else if constexpr (std::is_same_v<T, std::nullptr_t>) {
    return "nullptr";
  } else if constexpr (detail::kIsText<T>) {
    if constexpr (std::is_pointer_v<T>) {
      if (value == nullptr) return "nullptr";
    }
    return detail::quoted(value);
  } else if constexpr (std::is_floating_point_v<T>) {
    return shortest(value);
  } else if constexpr (detail::kIsNumber<T>) {
    using Wide = std::conditional_t<std::is_signed_v<T>, long long, unsigned long long>;
    return detail::shown(static_cast<Wide>(value));
  } else if constexpr (std::is_enum_v<T> && !Printable<T>) {
    return detail::shown(static_cast<long long>(value));
  } else if constexpr (Printable<T>) {
    return detail::printed(
        std::addressof(value), [](std::ostream& out, const void* it) { out << *static_cast<const T*>(it); }, digits);
  } else if constexpr (Range<T>) {
    std::string text = "{";
    int count = 0;
    for (const auto& element : value) {
      if (count++ == 32) {
        text += ", ...";
        break;
      }
      if (count > 1) text += ", ";
      text += show(element, digits);
    }
    return text + '}';
  } else {
    return "?";
  }
}

// The result of one check; `operands` is empty if it holds.
struct CheckResult {
  bool holds = true;
  std::string operands;
};

// Catches `a != b || c`, which arrives as a check of `a != b` followed by `|| c`.
template <class>
inline constexpr bool kIsOneComparison = false;
template <class R>
CheckResult operator&&(const CheckResult&, const R&) {
  static_assert(kIsOneComparison<R>, "a check takes one comparison: put `a && b` into parentheses");
  return {};
}
template <class R>
CheckResult operator||(const CheckResult&, const R&) {
  static_assert(kIsOneComparison<R>, "a check takes one comparison: put `a || b` into parentheses");
  return {};
}

CheckResult comparison_failed(const std::string& left, const std::string& right);
// Reports operands that differ but print the same text.
CheckResult pointers_differ(const std::string& text);

// Shows numbers in the type in which they were compared, and values that look alike with more digits.
template <class L, class R>
CheckResult explain(const L& left, const R& right) {
  if constexpr (std::is_floating_point_v<L> && std::is_floating_point_v<R> && !std::is_same_v<L, R>) {
    using Common = std::common_type_t<L, R>;
    return comparison_failed(shortest(static_cast<Common>(left)), shortest(static_cast<Common>(right)));
  } else {
    const std::string shown_left = show(left), shown_right = show(right);
    if (shown_left != shown_right) return comparison_failed(shown_left, shown_right);
    if constexpr (detail::kIsText<L> && detail::kIsText<R>) {
      if constexpr (std::is_pointer_v<std::decay_t<L>> && std::is_pointer_v<std::decay_t<R>>) {
        return pointers_differ(shown_left);
      }
    }
    return comparison_failed(show(left, kAllDigits), show(right, kAllDigits));
  }
}

template <class L>
class Operand {
 public:
  explicit Operand(const L& left) : left_(left) {}

  // The comparison is the user's, so mixed signs are the user's choice.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wsign-compare"
  template <class R>
  CheckResult operator==(const R& right) const {
    return judge(left_ == right, right);
  }
  template <class R>
  CheckResult operator!=(const R& right) const {
    return judge(left_ != right, right);
  }
  template <class R>
  CheckResult operator<(const R& right) const {
    return judge(left_ < right, right);
  }
  template <class R>
  CheckResult operator<=(const R& right) const {
    return judge(left_ <= right, right);
  }
  template <class R>
  CheckResult operator>(const R& right) const {
    return judge(left_ > right, right);
  }
  template <class R>
  CheckResult operator>=(const R& right) const {
    return judge(left_ >= right, right);
  }
#pragma GCC diagnostic pop

  // `a && b` and `a || b` cannot be taken apart: put them in parentheses, or write two checks.
  template <class R>
  CheckResult operator&&(const R&) const = delete;
  template <class R>
  CheckResult operator||(const R&) const = delete;

  // A single value: `DISTRUN_ASSERT(pointer)`.
  operator CheckResult() const {  // NOLINT: the macro relies on the conversion
    if (static_cast<bool>(left_)) return {};
    return {false, show(left_)};
  }

 private:
  template <class R>
  CheckResult judge(bool holds, const R& right) const {
    if (holds) return {};
    return explain(left_, right);
  }

  const L& left_;
};

// `Decompose() <=> a + 1 == b` binds as `(Decompose() <=> (a + 1)) == b`. With `<<` or `<=`, compilers would warn.
struct Decompose {
  template <class L>
  Operand<L> operator<=>(const L& left) const {
    return Operand<L>(left);
  }
};

}  // namespace distrun::base
