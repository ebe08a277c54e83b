#include <distrun/plugin/sdk/parameters.hpp>

#include <algorithm>
#include <charconv>
#include <set>
#include <system_error>

#include <distrun/plugin/sdk/detail/names.hpp>

namespace distrun {
namespace {

constexpr std::size_t kElementsMax = 100'000;

// Parses the whole text as a number.
template <class T>
bool read_number(const std::string& text, T& number) {
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  return error == std::errc() && stop == end;
}

template <class T>
std::string shortest(T value) {
  char buffer[64];
  const auto [end, error] = std::to_chars(buffer, buffer + sizeof buffer, value);
  return error == std::errc() ? std::string(buffer, end) : std::to_string(value);
}

[[noreturn]] void refuse_axis(const Axis& axis, const std::string& why) {
  throw Error(ErrorKind::InvalidArgument, "axis '" + axis.key + "' " + why);
}

void check_axis(const Axis& axis) {
  if (const char* flaw = detail::flaw_of_key(axis.key)) refuse_axis(axis, flaw);
  if (axis.values.empty()) refuse_axis(axis, "has no values");
  std::set<std::string_view> seen;
  for (const std::string& value : axis.values) {
    if (const char* flaw = detail::flaw_of_value(value)) {
      refuse_axis(axis, "has a value '" + value + "' that " + flaw);
    }
    if (!seen.insert(value).second) refuse_axis(axis, "has the value '" + value + "' twice");
  }
}

void check_axes(const std::vector<Axis>& axes) {
  std::set<std::string_view> keys;
  std::size_t count = 1;
  for (const Axis& axis : axes) {
    check_axis(axis);
    if (!keys.insert(axis.key).second) refuse_axis(axis, "is declared twice");
    if (axis.values.size() > kElementsMax / count) {
      refuse_axis(axis, "creates more than " + std::to_string(kElementsMax) + " combinations");
    }
    count *= axis.values.size();
  }
}

// Combines each element so far with each value of the axis.
std::vector<std::vector<Parameters::Entry>> extended(const std::vector<std::vector<Parameters::Entry>>& elements,
                                                     const Axis& axis) {
  std::vector<std::vector<Parameters::Entry>> result;
  result.reserve(elements.size() * axis.values.size());
  for (const auto& element : elements) {
    for (const std::string& value : axis.values) {
      result.push_back(element);
      result.back().emplace_back(axis.key, value);
    }
  }
  return result;
}

// Removes the word from the beginning of the text, if it is there.
bool take(std::string_view& text, std::string_view word) {
  if (!text.starts_with(word)) return false;
  text.remove_prefix(word.size());
  return true;
}

}  // namespace

const std::string& Parameters::text(std::string_view key) const {
  std::string known;
  for (const Entry& entry : entries_) {
    if (entry.first == key) return entry.second;
    known += (known.empty() ? "" : ", ") + entry.first;
  }
  throw Error(ErrorKind::InvalidArgument, "KeyError",
              "no parameter '" + std::string(key) + "'; the test has " + (known.empty() ? "none" : known));
}

std::string Parameters::to_string() const {
  std::string result;
  for (const auto& [key, value] : entries_) {
    if (!result.empty()) result += ',';
    result += key + "=" + value;
  }
  return result;
}

bool Parameters::as_bool(std::string_view key) const {
  const std::string& value = text(key);
  if (value == "true") return true;
  if (value == "false") return false;
  refuse(key, "true or false");
}

long long Parameters::as_signed(std::string_view key) const {
  long long number = 0;
  if (!read_number(text(key), number)) refuse(key, "an integer");
  return number;
}

unsigned long long Parameters::as_unsigned(std::string_view key) const {
  unsigned long long number = 0;
  if (!read_number(text(key), number)) refuse(key, "an integer of at least 0");
  return number;
}

double Parameters::as_real(std::string_view key) const {
  double number = 0;
  if (!read_number(text(key), number)) refuse(key, "a number");
  return number;
}

void Parameters::refuse(std::string_view key, const char* wanted) const {
  throw Error(ErrorKind::InvalidArgument, "parameter " + std::string(key) + "=" + text(key) + " isn't " + wanted);
}

std::vector<Parameters> Product::elements() const {
  check_axes(axes_);
  std::vector<std::vector<Parameters::Entry>> elements{{}};
  for (const Axis& axis : axes_) elements = extended(elements, axis);
  std::vector<Parameters> result;
  result.reserve(elements.size());
  for (auto& element : elements) result.emplace_back(std::move(element));
  return result;
}

std::optional<Parameters> Product::find(std::string_view text) const {
  std::vector<Parameters::Entry> entries;
  for (const Axis& axis : axes_) {
    if (!entries.empty() && !take(text, ",")) return std::nullopt;
    if (!take(text, axis.key) || !take(text, "=")) return std::nullopt;
    const std::string value(text.substr(0, text.find(',')));
    if (std::find(axis.values.begin(), axis.values.end(), value) == axis.values.end()) {
      return std::nullopt;
    }
    text.remove_prefix(value.size());
    entries.emplace_back(axis.key, value);
  }
  if (!text.empty()) return std::nullopt;
  return Parameters(std::move(entries));
}

namespace detail {

std::string parameter_text(bool value) { return value ? "true" : "false"; }
std::string parameter_text(char value) { return std::string(1, value); }
std::string parameter_text(const char* value) { return value != nullptr ? value : ""; }
std::string parameter_text(std::string_view value) { return std::string(value); }
std::string parameter_text(float value) { return shortest(value); }
std::string parameter_text(double value) { return shortest(value); }

}  // namespace detail
}  // namespace distrun
