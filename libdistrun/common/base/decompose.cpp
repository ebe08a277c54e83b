#include <distrun/common/base/decompose.hpp>

#include <array>
#include <charconv>
#include <sstream>

namespace distrun::base {
namespace {

template <class T>
std::string shortest_text(T value) {
  std::array<char, 64> buffer;
  return {buffer.data(), std::to_chars(buffer.data(), buffer.data() + buffer.size(), value).ptr};
}

}  // namespace

std::string shortest(float value) { return shortest_text(value); }
std::string shortest(double value) { return shortest_text(value); }
std::string shortest(long double value) { return shortest_text(value); }

namespace detail {

std::string quoted(std::string_view text) { return '"' + std::string(text) + '"'; }
std::string shown(long long value) { return std::to_string(value); }
std::string shown(unsigned long long value) { return std::to_string(value); }

std::string printed(const void* value, Printer print, int digits) {
  std::ostringstream out;
  out.precision(digits);
  print(out, value);
  return out.str();
}

}  // namespace detail

CheckResult comparison_failed(const std::string& left, const std::string& right) {
  return {false, "left: " + left + ", right: " + right};
}

CheckResult pointers_differ(const std::string& text) {
  CheckResult result = comparison_failed(text, text);
  result.operands += " (the pointers differ; to compare the texts, use std::string_view)";
  return result;
}

}  // namespace distrun::base
