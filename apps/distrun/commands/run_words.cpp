#include "run_words.hpp"

#include <algorithm>
#include <chrono>
#include <vector>

#include <distrun/common/base/clock.hpp>
#include <distrun/common/base/text.hpp>

namespace distrun::cli {
namespace {

constexpr std::size_t kTextMax = 400;

std::string joined(const std::vector<std::string>& words, const char* between) {
  std::string text;
  for (const std::string& word : words) {
    if (text.size() > kTextMax) break;
    text += (text.empty() ? "" : between) + base::shell_quoted(word);
  }
  return base::one_line(text, kTextMax);
}

// Returns plugins that the command does not name, for example those of another report (--rerun-failed). The command of
// `exec` always names the program.
std::vector<std::string> plugins_not_typed(const wire::RunStatus& run) {
  const bool is_program = run.command.size() > 1 && run.command[1] == "exec";
  std::vector<std::string> plugins = is_program ? std::vector<std::string>{} : run.plugins;
  std::erase_if(plugins, [&](const std::string& plugin) {
    return std::find(run.command.begin(), run.command.end(), plugin) != run.command.end();
  });
  return plugins;
}

}  // namespace

std::string command_text(const wire::RunStatus& run) { return joined(run.command, " "); }

std::string origin_text(const wire::RunStatus& run) {
  const auto now_ms = base::system_clock().wall_ns() / 1'000'000;
  const auto ago = std::chrono::milliseconds(std::max<std::int64_t>(now_ms - run.started_ms, 0));
  const std::string plugins = joined(plugins_not_typed(run), ", ");
  return "started " + base::human(ago) + " ago in " + base::one_line(run.directory, kTextMax) +
         (plugins.empty() ? "" : ", with " + plugins);
}

std::string waiting_text(const wire::DaemonRun& run) {
  const std::string where =
      run.directory.empty() ? "" : " (submitted in " + base::one_line(run.directory, kTextMax) + ")";
  return base::one_line(run.command, kTextMax) + where;
}

}  // namespace distrun::cli
