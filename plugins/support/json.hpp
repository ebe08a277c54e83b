#pragma once
// Reads JSON for tests: small documents of trusted depth.
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace distrun::suites {

struct Json {
  std::string text;                       // of a string; or the literal text of a number, true, false or null
  std::vector<Json> items;                // of a list
  std::map<std::string, Json> members{};  // of an object

  bool has(const std::string& name) const { return members.contains(name); }
  // Throws Error{InvalidArgument, "KeyError"} if there is no such member.
  const Json& at(const std::string& name) const;
};

// Throws Error{InvalidArgument}, with the position, for invalid JSON.
Json read_json(std::string_view text);

}  // namespace distrun::suites
