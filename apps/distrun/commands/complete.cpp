// distrun completion, which prints a shell's script, and distrun complete, which the scripts call.
#include <cstdio>

#include <distrun/common/base/error.hpp>
#include <distrun/common/base/text.hpp>

#include "commands.hpp"
#include "exit_codes.hpp"
#include "help/completion.hpp"
#include "options/command_line.hpp"
#include "run_socket.hpp"

namespace distrun::cli {
namespace {

// Scale of the timeout for loading a plugin: completion must not take half a minute.
constexpr double kPatience = 0.1;

const char* line_of(PathKind paths) {
  switch (paths) {
    case PathKind::None: return "";
    case PathKind::Any: return ":paths\n";
    case PathKind::Plugin: return ":plugins\n";
    case PathKind::Directory: return ":directories\n";
  }
  return "";
}

void print(const std::string& word, const std::string& description) {
  std::printf("%s\t%s\n", base::one_line(word, 1000).c_str(), base::one_line(description, 200).c_str());
}

int list_tests(const Candidates& found) {
  ListOptions options;
  options.settings.plugins = found.plugins;
  options.before = found.prefix;
  options.settings.timeout_scale = kPatience;
  options.form = ListForm::Patterns;
  return list(options);
}

}  // namespace

int completion(const CompletionOptions& options) {
  std::fputs(completion_script(options.shell).c_str(), stdout);
  return kSuccess;
}

int complete(const CompleteOptions& options) {
  const Candidates found = candidates_for(describe_commands(), options.words);
  for (const Candidate& candidate : found.words) print(candidate.text, candidate.description);
  std::fputs(line_of(found.paths), stdout);
  if (found.runs) {
    for (const std::string& id : running_ids()) print(id, "");
  }
  std::fflush(stdout);
  return found.tests && !found.plugins.empty() ? list_tests(found) : kSuccess;
}

}  // namespace distrun::cli
