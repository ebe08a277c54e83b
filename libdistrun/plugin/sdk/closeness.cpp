#include <distrun/plugin/sdk/closeness.hpp>

#include <cmath>

namespace distrun::detail {
namespace {

bool are_close(long double actual, long double expected, double rtol, double atol) {
  if (actual == expected) return true;
  if (!std::isfinite(actual) || !std::isfinite(expected)) return false;
  return std::abs(actual - expected) <= atol + rtol * std::abs(expected);
}

}  // namespace

std::string numbers_apart(long double actual, long double expected, double rtol, double atol,
                          const base::CheckResult& shown) {
  if (are_close(actual, expected, rtol, atol)) return "";
  const auto distance = static_cast<double>(std::abs(actual - expected));
  return shown.operands + "\n  they differ by " + base::shortest(distance) + ", more than " + base::shortest(atol) +
         " + " + base::shortest(rtol) + " |right|";
}

void RangeComparison::add(long double actual, long double expected) {
  if (!are_close(actual, expected, rtol_, atol_)) differing_.add(count_, std::abs(actual - expected));
  ++count_;
}

}  // namespace distrun::detail
