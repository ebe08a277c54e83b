#include "report_file.hpp"

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <fstream>

#include <distrun/common/base/error.hpp>
#include <distrun/common/base/text.hpp>
#include <distrun/runner/report/json/read_summary.hpp>
#include <distrun/runner/report/text/repeat_command.hpp>

#include "commands/exit_codes.hpp"

namespace distrun::cli {

namespace {

namespace fs = std::filesystem;

// Far more than any run writes; also bounds an endless pipe.
constexpr std::size_t kBytesMax = std::size_t{1} << 30;

[[noreturn]] void refuse_file(const std::string& path, const std::string& why) {
  throw Error(ErrorKind::InvalidArgument, "cannot read " + path + ": " + why);
}

}  // namespace

std::string read_report_text(const std::string& path) {
  std::error_code ignored;
  const fs::file_type type = fs::status(path, ignored).type();
  if (type == fs::file_type::directory || type == fs::file_type::character || type == fs::file_type::block) {
    refuse_file(path, "it is not a regular file");
  }
  std::ifstream file(path, std::ios::binary);
  if (!file) refuse_file(path, base::errno_text(errno));
  std::string text;
  std::string chunk(1 << 16, '\0');
  while (file.read(chunk.data(), static_cast<std::streamsize>(chunk.size())) || file.gcount() > 0) {
    text.append(chunk, 0, static_cast<std::size_t>(file.gcount()));
    if (text.size() > kBytesMax) refuse_file(path, "it has more than " + std::to_string(kBytesMax) + " bytes");
  }
  if (file.bad()) refuse_file(path, base::errno_text(errno));
  return text;
}

runner::RunRecord read_report(const std::string& path) {
  const std::string text = read_report_text(path);
  try {
    return report::read_summary(text);
  } catch (Error& error) {
    throw error.while_doing(path);
  }
}

std::vector<runner::TestName> failed_tests(const runner::RunRecord& run) {
  std::vector<runner::TestName> failed;
  for (const runner::TestRecord& test : run.tests) {
    if (is_good(test.verdict)) continue;
    failed.push_back({test.plugin, test.info.id()});
  }
  return failed;
}

std::vector<std::string> plugins_of(const std::vector<runner::TestName>& tests) {
  std::vector<std::string> plugins;
  for (const runner::TestName& test : tests) {
    if (std::find(plugins.begin(), plugins.end(), test.plugin) == plugins.end()) plugins.push_back(test.plugin);
  }
  return plugins;
}

NothingToRun why_nothing_reruns(const runner::RunRecord& run, const std::string& path) {
  const std::string shown = base::one_line(path, 400);
  if (run.interrupted || !run.problems.empty()) {
    const std::string what = run.interrupted ? "was interrupted" : "had problems";
    return {shown + " contains no test that did not pass, but its run " + what +
                ": tests that did not run are missing; rerun all tests",
            kNothingRan};
  }
  return {"every test of " + shown + " passed or was skipped; there is nothing to rerun", kSuccess};
}

Layer report_layer(const runner::RunRecord& run, const std::string& path) {
  Layer layer;
  const auto add = [&](const std::string& option, const std::string& value) {
    LayerValue& into = layer[option.substr(option.find_first_not_of('-'))];
    into.texts.push_back(value);
    into.origin = path;
  };
  for (const wire::KeyValue& option : report::setting_options(run.settings)) add(option.key, option.value);
  add("--seed", std::to_string(run.settings.seed));
  return layer;
}

}  // namespace distrun::cli
