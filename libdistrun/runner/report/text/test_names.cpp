#include <distrun/runner/report/text/test_names.hpp>

#include <algorithm>
#include <filesystem>

namespace distrun::report {

std::string plugin_name(const runner::TestRecord& test) {
  return std::filesystem::path(test.plugin).stem().string();
}

std::string case_name(const runner::TestRecord& test) {
  const std::string id = test.info.id();
  return id.substr(std::min(id.size(), test.info.suite.size() + 1));
}

}  // namespace distrun::report
