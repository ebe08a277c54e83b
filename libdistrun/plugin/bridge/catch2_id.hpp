#pragma once
// Catch2's test cases as ids, and their tags as options.
#include <distrun/plugin/bridge/catch2_implementation.hpp>

#include <charconv>
#include <chrono>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <distrun/common/base/error.hpp>
#include <distrun/common/base/label.hpp>
#include <distrun/plugin/sdk/bridge.hpp>
#include <distrun/plugin/sdk/options.hpp>

namespace distrun::detail::catch2 {

struct Id {
  std::string suite;
  std::string name;
};

inline std::string suite_of(const Catch::TestCaseInfo& test) {
  if (!test.className.empty()) return escape_name(test.className);
  std::string_view file = test.lineInfo.file;
  file.remove_prefix(file.rfind('/') + 1);  // 0 without a slash
  return escape_title(file.substr(0, file.rfind('.')));
}

// Returns the ids of all test cases, in order. Titles that would become equal are escaped in full: an escaped name has
// no '_' for a space, so these stay different.
inline std::vector<Id> ids_of(const std::vector<Catch::TestCase>& tests) {
  std::map<std::string, int> times;
  for (const Catch::TestCase& test : tests) ++times[suite_of(test) + "." + escape_title(test.name)];
  std::vector<Id> ids;
  for (const Catch::TestCase& test : tests) {
    Id id{suite_of(test), escape_title(test.name)};
    if (times[id.suite + "." + id.name] > 1) id.name = escape_name(test.name);
    ids.push_back(std::move(id));
  }
  return ids;
}

inline std::string description_of(const Catch::TestCaseInfo& test) {
  std::string text = "\"" + test.name + "\"";
  if (!test.tags.empty()) text += "  " + test.tagsAsString();
  return text;
}

inline int number_of_tag(const std::string& tag, std::string_view text) {
  int number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error == std::errc() && end == text.data() + text.size()) return number;
  throw Error(ErrorKind::InvalidArgument,
              "the tag [" + tag + "] has no valid number; write [world_size=3], [timeout=10s] or [timeout=500ms]");
}

// Parses the tags [world_size=N], [timeout=Ns] and [timeout=Nms]; others without spaces become tags.
// Throws Error{InvalidArgument} for such a tag without a number.
inline TestOptions options_of_tags(const std::vector<std::string>& tags) {
  TestOptions options;
  for (const std::string& tag : tags) {
    const std::size_t at = tag.find('=');
    if (at == tag.npos) {
      if (base::is_tag(tag)) options.tags.push_back(tag);
      continue;
    }
    const std::string_view key = std::string_view(tag).substr(0, at);
    std::string_view value = std::string_view(tag).substr(at + 1);
    if (key == "world_size") options.world_size = fixed(number_of_tag(tag, value));
    if (key != "timeout") continue;
    const bool is_ms = value.ends_with("ms");
    value.remove_suffix(is_ms ? 2 : value.ends_with('s') ? 1 : 0);
    options.timeout = std::chrono::milliseconds(std::int64_t{number_of_tag(tag, value)} * (is_ms ? 1 : 1000));
  }
  return options;
}

}  // namespace distrun::detail::catch2
