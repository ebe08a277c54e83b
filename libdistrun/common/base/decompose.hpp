#pragma once
// Takes `a == b` apart so that a failed check can print both operands. Used by DISTRUN_ASSERT and by
// the checks of the SDK. Operands are printed only on failure.
#include <concepts>
#include <ostream>
#include <sstream>
#include <string>
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

// What a failed check prints of a value: strings quoted, bool by name, ranges up to 32 elements,
// types without operator<< as "?".
template <class T>
std::string show(const T& value) {
  std::ostringstream out;
  if constexpr (std::is_same_v<T, bool>) {
    out << (value ? "true" : "false");
  } else if constexpr (std::is_same_v<T, std::nullptr_t>) {
    out << "nullptr";
  } else if constexpr (std::is_convertible_v<const T&, std::string_view>) {
    if constexpr (std::is_pointer_v<T>) {
      if (value == nullptr) return "nullptr";
    }
    out << '"' << std::string_view(value) << '"';
  } else if constexpr (std::is_enum_v<T> && !Printable<T>) {
    out << static_cast<long long>(value);
  } else if constexpr (std::is_same_v<T, unsigned char> || std::is_same_v<T, signed char>) {
    out << static_cast<int>(value);
  } else if constexpr (Printable<T>) {
    out << value;
  } else if constexpr (Range<T>) {
    out << '{';
    int count = 0;
    for (const auto& element : value) {
      if (count++ == 32) {
        out << ", ...";
        break;
      }
      out << (count > 1 ? ", " : "") << show(element);
    }
    out << '}';
  } else {
    out << '?';
  }
  return out.str();
}

// The outcome of one check; `operands` is empty while it holds.
struct CheckResult {
  bool holds = true;
  std::string operands;
};

// `a != b || c` arrives here as a check of `a != b` and what follows.
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

template <class L>
class Operand {
 public:
  explicit Operand(const L& left) : left_(left) {}

  // The comparison is the user's, so a mix of signs is theirs to judge.
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

  // `a && b` and `a || b` can't be taken apart: put them in parentheses, or write two checks.
  template <class R>
  CheckResult operator&&(const R&) const = delete;
  template <class R>
  CheckResult operator||(const R&) const = delete;

  // A single value, `DISTRUN_ASSERT(pointer)`.
  operator CheckResult() const {  // NOLINT: the macro relies on the conversion
    if (static_cast<bool>(left_)) return {};
    return {false, show(left_)};
  }

 private:
  template <class R>
  CheckResult judge(bool holds, const R& right) const {
    if (holds) return {};
    return {false, "left: " + show(left_) + ", right: " + show(right)};
  }

  const L& left_;
};

// `Decompose() << a == b` binds as `(Decompose() << a) == b`.
struct Decompose {
  template <class L>
  Operand<L> operator<<(const L& left) const {
    return Operand<L>(left);
  }
};

}  // namespace distrun::base
