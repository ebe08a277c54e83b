#include "report_file.hpp"

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <sstream>

#include <distrun/base/error.hpp>
#include <distrun/base/text.hpp>
#include <distrun/report/read_summary.hpp>
#include <distrun/report/repeat_command.hpp>

#include "exit_codes.hpp"

namespace distrun::cli {

runner::RunRecord read_report(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream content;
  if (!file || !(content << file.rdbuf())) {
    throw Error(ErrorKind::InvalidArgument, "cannot read " + path + ": " + base::errno_text(errno));
  }
  try {
    return report::read_summary(content.str());
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
    return {shown + " names no test that did not pass, but its run " + what +
                ": what did not run is not in it; run it whole",
            kNothingRan};
  }
  return {"every test of " + shown + " passed or was skipped: there is nothing to run again", kSuccess};
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
