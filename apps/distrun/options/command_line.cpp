#include "command_line.hpp"

#include <CLI/CLI.hpp>

#include <unistd.h>

#include <distrun/common/base/nearest.hpp>

#include "help/completion.hpp"
#include "parsing.hpp"

namespace distrun::cli {
namespace {

constexpr char kCompletionNotes[] = R"(
Examples:
  distrun completion bash > ~/.local/share/bash-completion/completions/distrun
  distrun completion zsh > "${fpath[1]}/_distrun"
  distrun completion fish > ~/.config/fish/completions/distrun.fish
  source <(distrun completion bash)      only for this shell

Notes:
  `cmake --install` installs these scripts where shells search for them. They query the distrun
  on the command line, so they know its options, runs and, after --filter, a plugin's test ids.)";

CommandLine parse_completion(const Arguments& arguments) {
  CommandLine line;
  CLI::App app("Prints a script for a shell that completes distrun's command lines.", "distrun completion");
  app.footer(kCompletionNotes);
  app.add_option("SHELL", line.completion.shell, "The shell")->required()->type_name(kShells);
  if (!parse(app, arguments)) return line;
  one_of("completion", line.completion.shell, kShells);
  line.kind = CommandKind::Completion;
  return line;
}

struct Command {
  const char* name;
  CommandLine (*parse)(const Arguments& arguments);
};

constexpr Command kCommands[] = {
    {"run", parse_run},
    {"exec", parse_exec},
    {"list", parse_list},
    {"show", parse_show},
    {"ps", parse_ps},
    {"stacks", parse_stacks},
    {"doctor", parse_doctor},
    {"attach", parse_attach},
    {"cancel", parse_cancel},
    {"history", parse_history},
    {"completion", parse_completion},
};

// Parses the commands for our scripts: the last word of `distrun complete -- WORD...` is being typed.
CommandLine parse_for_scripts(const std::string& name, const std::vector<std::string>& rest) {
  CommandLine line;
  if (name == "man") line.kind = CommandKind::Man;
  if (name == "complete" && rest.size() > 1 && rest.front() == "--") {
    line.kind = CommandKind::Complete;
    line.complete.words.assign(rest.begin() + 1, rest.end());
  }
  return line;
}

// A word in the place of a command is a plugin unless it is a command; a typing error is neither. If a file of that
// name exists, it is a plugin.
void refuse_misspelt(const std::string& word) {
  const bool is_path = word.find_first_of("/.") != std::string::npos;
  if (word.empty() || word.front() == '-' || is_path || ::access(word.c_str(), F_OK) == 0) return;
  std::vector<std::string> known{"help", "version"};
  for (const Command& command : kCommands) known.emplace_back(command.name);
  const std::string hint = base::did_you_mean(word, known);
  if (!hint.empty()) refuse(word + " is not a command, and there is no plugin file of that name" + hint);
}

}  // namespace

CommandLine parse_command_line(const std::vector<std::string>& arguments) {
  const std::string first = arguments.empty() ? "" : arguments.front();
  const std::vector<std::string> rest(arguments.begin() + (arguments.empty() ? 0 : 1), arguments.end());
  if (first == "node") return parse_node(rest);
  if (first == "version") return parse_run(std::vector<std::string>{"--version"});
  if (first == "help") return parse_run(std::vector<std::string>{"--help"});
  for (const Command& command : kCommands) {
    if (first == command.name) return command.parse(rest);
  }
  CommandLine for_scripts = parse_for_scripts(first, rest);
  if (for_scripts.kind != CommandKind::Done) return for_scripts;
  refuse_misspelt(first);
  return parse_run(arguments);
}

std::vector<CommandInfo> describe_commands() {
  std::vector<CommandInfo> commands;
  for (const Command& command : kCommands) command.parse(Arguments(commands.emplace_back()));
  return commands;
}

}  // namespace distrun::cli
