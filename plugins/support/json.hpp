#pragma once
// JSON as tests read it back: small documents that are trusted to end.
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace distrun::suites {

struct Json {
  std::string text;                       // of a string, or of a number, true, false and null as it stands there
  std::vector<Json> items;                // of a list
  std::map<std::string, Json> members{};  // of an object

  bool has(const std::string& name) const { return members.contains(name); }
  // Throws Error{InvalidArgument, "KeyError"} if there is none.
  const Json& at(const std::string& name) const;
};

// Throws Error{InvalidArgument}, with the place, for what no JSON is.
Json read_json(std::string_view text);

}  // namespace distrun::suites
