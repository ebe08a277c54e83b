#pragma once
// DISTRUN_EXPECT_CLOSE(actual, expected, rtol, atol) fails if numbers differ by more than atol + rtol |expected|, and
// prints the worst ones with their indices. Equal infinities are close; NaN is close to nothing.
//
// It compares numbers, ranges of numbers, tensors (include <distrun/tensors.hpp>), and every type with this function in
// its namespace:
//   std::string check_close(const T& actual, const T& expected, double rtol, double atol);
// It returns the difference, or an empty text.
#include <concepts>
#include <cstddef>
#include <iterator>
#include <string>
#include <type_traits>
#include <vector>

#include <distrun/common/base/decompose.hpp>
#include <distrun/common/base/worst_elements.hpp>
#include <distrun/plugin/sdk/check.hpp>

namespace distrun::detail {

std::string numbers_apart(long double actual, long double expected, double rtol, double atol,
                          const base::CheckResult& shown);

// Compares two ranges element by element.
class RangeComparison {
 public:
  RangeComparison(double rtol, double atol) : rtol_(rtol), atol_(atol) {}
  void add(long double actual, long double expected);
  bool all_close() const noexcept { return differing_.empty(); }
  const std::vector<base::WorstElements::Element>& worst() const noexcept { return differing_.worst(); }
  std::string text(const std::vector<std::string>& elements) const {
    return differing_.text(count_, rtol_, atol_, elements);
  }

 private:
  double rtol_;
  double atol_;
  std::size_t count_ = 0;
  base::WorstElements differing_;
};

template <class T>
concept NumberRange = requires(const T& range) {
  std::begin(range);
  std::end(range);
  requires std::is_arithmetic_v<std::remove_cvref_t<decltype(*std::begin(range))>>;
};
template <class A, class B>
concept HasCheckClose = requires(const A& actual, const B& expected) {
  { check_close(actual, expected, 0.0, 0.0) } -> std::convertible_to<std::string>;
};

template <class A, class B>
std::string ranges_apart(const A& actual, const B& expected, double rtol, double atol) {
  const auto size = std::distance(std::begin(actual), std::end(actual));
  const auto size_expected = std::distance(std::begin(expected), std::end(expected));
  if (size != size_expected) return base::show(size) + " elements, expected " + base::show(size_expected);
  RangeComparison comparison(rtol, atol);
  auto other = std::begin(expected);
  for (const auto& value : actual) {
    comparison.add(static_cast<long double>(value), static_cast<long double>(*other));
    ++other;
  }
  if (comparison.all_close()) return "";
  std::vector<std::string> elements;
  for (const auto& [index, distance] : comparison.worst()) {
    const auto step = static_cast<std::ptrdiff_t>(index);
    elements.push_back("[" + base::show(index) + "]: " + base::show(*std::next(std::begin(actual), step)) +
                       ", expected " + base::show(*std::next(std::begin(expected), step)));
  }
  return comparison.text(elements);
}

// Returns the difference; empty if all are close.
template <class A, class B>
std::string what_is_not_close(const A& actual, const B& expected, double rtol, double atol) {
  if constexpr (std::is_arithmetic_v<A> && std::is_arithmetic_v<B>) {
    return numbers_apart(static_cast<long double>(actual), static_cast<long double>(expected), rtol, atol,
                         base::explain(actual, expected));
  } else if constexpr (NumberRange<A> && NumberRange<B>) {
    return ranges_apart(actual, expected, rtol, atol);
  } else {
    static_assert(HasCheckClose<A, B>,
                  "DISTRUN_EXPECT_CLOSE compares numbers, ranges of numbers, and types with a function "
                  "check_close(actual, expected, rtol, atol); for tensors include <distrun/tensors.hpp>");
    if constexpr (HasCheckClose<A, B>) return check_close(actual, expected, rtol, atol);
  }
}

}  // namespace distrun::detail

#define DISTRUN_DETAIL_CHECK_CLOSE(macro, text, ...)                                                                   \
  DISTRUN_DETAIL_JUDGE(::distrun::detail::nothing_is_wrong(::distrun::detail::what_is_not_close(__VA_ARGS__)), Expect, \
                       macro, text)

// Checks that `actual` and `expected` differ by at most atol + rtol |expected|, element by element:
// DISTRUN_EXPECT_CLOSE(actual, expected, rtol, atol). If not, reports the worst elements and goes on.
#define DISTRUN_EXPECT_CLOSE(...) DISTRUN_DETAIL_CHECK_CLOSE("EXPECT_CLOSE", #__VA_ARGS__, __VA_ARGS__)
