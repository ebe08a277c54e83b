#pragma once
// Converts GoogleTest's names to distrun's ids. A suite is [instance/]Suite[/type], a test is Test[/parameter]: the
// parts between slashes become keys of the id, so that nothing is lost and no two names collide.
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <distrun/plugin/sdk/bridge.hpp>
#include <distrun/plugin/sdk/parameters.hpp>

namespace distrun::detail::gtest {

struct Id {
  std::string suite;
  std::string name;
  Parameters element;
};

inline std::string full_name_of(const ::testing::TestInfo& test) {
  return std::string(test.test_suite_name()) + "." + test.name();
}

inline Id id_of(const ::testing::TestInfo& test) {
  std::vector<Parameters::Entry> entries;
  std::string_view suite = test.test_suite_name();
  std::string_view name = test.name();
  std::string_view type;
  if (const std::size_t at = suite.rfind('/'); test.type_param() != nullptr && at != suite.npos) {
    type = suite.substr(at + 1);
    suite = suite.substr(0, at);
  }
  if (const std::size_t at = suite.rfind('/'); at != suite.npos) {
    entries.emplace_back("instance", escape_value(suite.substr(0, at)));
    suite = suite.substr(at + 1);
  }
  if (!type.empty()) entries.emplace_back("type", escape_value(type));
  if (const std::size_t at = name.find('/'); at != name.npos) {
    entries.emplace_back("param", escape_value(name.substr(at + 1)));
    name = name.substr(0, at);
  }
  return {escape_name(suite), escape_name(name), Parameters(std::move(entries))};
}

// Returns GoogleTest's name and the parameter, if the id does not contain them.
inline std::string description_of(const ::testing::TestInfo& test) {
  if (test.type_param() == nullptr && test.value_param() == nullptr) return "";
  std::string text = full_name_of(test);
  if (test.type_param() != nullptr) text += std::string("  TypeParam = ") + test.type_param();
  if (test.value_param() != nullptr) text += std::string("  GetParam() = ") + test.value_param();
  constexpr std::size_t kTextMax = 1000;  // a parameter may print as anything
  if (text.size() > kTextMax) text.resize(kTextMax);
  return text;
}

// Same rule as GoogleTest's: a name, or a part after a slash, that begins with DISABLED_.
inline bool is_disabled(const ::testing::TestInfo& test) {
  for (const std::string_view name : {std::string_view(test.test_suite_name()), std::string_view(test.name())}) {
    if (name.starts_with("DISABLED_") || name.find("/DISABLED_") != name.npos) return true;
  }
  return false;
}

// Returns a filter for the test of this name. Characters with a special meaning are replaced by '?', which matches any.
inline std::string filter_for(std::string full_name) {
  for (char& c : full_name) {
    if (c == ':' || c == '-' || c == '*') c = '?';
  }
  return full_name;
}

}  // namespace distrun::detail::gtest
