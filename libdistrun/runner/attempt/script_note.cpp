#include <distrun/runner/attempt/script_note.hpp>

#include <unistd.h>

#include <algorithm>
#include <array>
#include <map>
#include <string_view>

#include <distrun/common/base/text.hpp>
#include <distrun/runner/evidence/proc/proc_files.hpp>

namespace distrun::runner {
namespace {

constexpr std::size_t kCommandMax = 16U << 10U;
constexpr std::size_t kScriptMax = 200;

std::string executable_of(int pid) {
  char target[4096];
  const ssize_t size = ::readlink(evidence::proc_path(pid, "exe").c_str(), target, sizeof target);
  const std::string path(target, size > 0 ? static_cast<std::size_t>(size) : 0);
  return path.substr(path.find_last_of('/') + 1);
}

std::vector<std::string> arguments_of(int pid) {
  const std::string text = evidence::read_proc_file(evidence::proc_path(pid, "cmdline"), kCommandMax).text;
  std::vector<std::string> arguments;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\0', at), text.size());
    arguments.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return arguments;
}

// -W and -X are followed by a value.
bool takes_value(const std::string& option) { return option == "-W" || option == "-X"; }

constexpr std::string_view kModule = "module ";
constexpr std::array<std::string_view, 5> kShells{"sh", "bash", "dash", "ksh", "zsh"};
constexpr std::array<std::string_view, 6> kInterpreters{"perl", "ruby", "node", "Rscript", "julia", "lua"};

bool is_one_of(std::string_view name, const auto& names) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

// Returns the first word that is no option; nothing if an option holds the code: `-c` of shells (also "-ec"), or `-e`.
std::optional<std::string> first_word(const std::vector<std::string>& arguments, char code) {
  for (std::size_t i = 1; i < arguments.size(); ++i) {
    const std::string& word = arguments[i];
    if (word.empty() || (word[0] != '-' && word[0] != '+')) return word;
    const bool is_short = word.size() > 1 && word[1] != '-';
    if (word == "-" || (is_short && word.find(code) != std::string::npos)) return std::nullopt;
    if (word.ends_with("o") && code == 'c') ++i;  // -o pipefail
  }
  return std::nullopt;
}

// Returns whether a stack of the process shows where Python is.
bool shows_lines(const evidence::Stacks& stacks, const evidence::Process& process) {
  return std::any_of(process.threads.begin(), process.threads.end(), [&](const wire::ThreadStack& thread) {
    return std::any_of(thread.frames.begin(), thread.frames.end(), [&](std::uint32_t index) {
      return stacks.table[index].module == wire::kPythonModule && stacks.table[index].line != 0;
    });
  });
}

}  // namespace

std::optional<std::string> python_script(const std::string& executable, const std::vector<std::string>& arguments) {
  if (!executable.starts_with("python")) return std::nullopt;
  for (std::size_t i = 1; i < arguments.size(); ++i) {
    const std::string& word = arguments[i];
    if (word == "-m") return i + 1 < arguments.size() ? std::string(kModule) + arguments[i + 1] : "a module";
    if (word.starts_with("-c")) return "its -c argument";
    if (word == "-") return "its standard input";
    if (!word.starts_with("-")) return word;
    if (takes_value(word)) ++i;
  }
  return "its standard input";
}

std::optional<std::string> find_script(const std::string& executable, const std::vector<std::string>& arguments) {
  if (is_one_of(executable, kShells)) return first_word(arguments, 'c');
  if (is_one_of(executable, kInterpreters)) return first_word(arguments, 'e');
  std::optional<std::string> script = python_script(executable, arguments);
  if (!script || script->starts_with("its ") || *script == "a module") return std::nullopt;
  if (script->starts_with(kModule)) script->erase(0, kModule.size());
  return script;
}

void find_scripts(evidence::Stacks& stacks) {
  for (evidence::Process& process : stacks.processes) {
    if (process.rank < 0 || process.host != 0) continue;
    const std::string executable = executable_of(process.pid);
    const auto script = python_script(executable, arguments_of(process.pid));
    if (script) process.script = executable + " runs " + base::one_line(*script, kScriptMax);
  }
}

void add_script_notes(Snapshot& snapshot) {
  std::map<std::string, std::vector<int>> ranks_of;
  for (const evidence::Process& process : snapshot.stacks.processes) {
    if (process.rank < 0 || process.script.empty() || shows_lines(snapshot.stacks, process)) continue;
    ranks_of[process.script].push_back(process.rank);
  }
  for (const auto& [what, ranks] : ranks_of) {
    const std::string note = "; stacks show the interpreter, not the line of Python";
    snapshot.text.emplace_back().add(evidence::Tone::Dim, snapshot.hosts.label(ranks) + ": " + what + note);
  }
}

}  // namespace distrun::runner
