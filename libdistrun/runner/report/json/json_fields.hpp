#pragma once
// Reads fields of untrusted JSON and checks their types; an error names the field. A missing or null field leaves the
// variable unchanged. All functions throw Error{InvalidArgument}.
#include <concepts>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include <distrun/common/base/clock.hpp>

namespace distrun::report {

using Json = nlohmann::ordered_json;  // preserves the order of parameters

[[noreturn]] void refuse(const std::string& what);
[[noreturn]] void refuse_field(const char* name, const Json& found, const char* wanted);

// Returns the field; null if it is missing or null.
const Json* find(const Json& object, const char* name);
// Returns a field that is an object; an empty object if it is missing.
const Json& object_at(const Json& object, const char* name);

void read(const Json& object, const char* name, std::string& into);
void read(const Json& object, const char* name, bool& into);
void read(const Json& object, const char* name, double& into);
void read(const Json& object, const char* name, base::Nanoseconds& into);
void read(const Json& object, const char* name, std::vector<std::string>& into);

template <std::integral Integer>
Integer integer_of(const char* name, const Json& found) {
  constexpr auto kMax = static_cast<std::uint64_t>(std::numeric_limits<Integer>::max());
  constexpr auto kMin = static_cast<std::int64_t>(std::numeric_limits<Integer>::min());
  const bool fits = found.is_number_unsigned() ? found.get<std::uint64_t>() <= kMax
                                               : found.is_number_integer() && found.get<std::int64_t>() >= kMin;
  if (!fits) refuse_field(name, found, "an integer in its range");
  return found.get<Integer>();
}

template <std::integral Integer>
void read(const Json& object, const char* name, Integer& into) {
  const Json* found = find(object, name);
  if (found != nullptr) into = integer_of<Integer>(name, *found);
}

// Reads an enumerator by name; there are `count`, starting at 0.
template <class Enum>
void read_enum(const Json& object, const char* name, int count, Enum& into) {
  std::string text;
  read(object, name, text);
  if (text.empty()) return;
  for (int i = 0; i < count; ++i) {
    if (text == name_of(static_cast<Enum>(i))) {
      into = static_cast<Enum>(i);
      return;
    }
  }
  refuse_field(name, object.at(name), "a known name");
}

// Calls `visit` for each element; treats a missing array as empty.
template <class Visit>
void read_each(const Json& object, const char* name, const Visit& visit) {
  const Json* found = find(object, name);
  if (found == nullptr) return;
  if (!found->is_array()) refuse_field(name, *found, "a list");
  for (const Json& item : *found) visit(item);
}

template <class Visit>
void read_each_object(const Json& object, const char* name, const Visit& visit) {
  read_each(object, name, [&](const Json& item) {
    if (!item.is_object()) refuse_field(name, item, "an object");
    visit(item);
  });
}

}  // namespace distrun::report
