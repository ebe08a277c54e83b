#include <distrun/runner/nodes/engine.hpp>

#include <algorithm>

#include <distrun/common/base/check.hpp>
#include <distrun/common/base/error.hpp>
#include <distrun/common/base/nearest.hpp>
#include <distrun/common/base/shell_words.hpp>
#include <distrun/common/base/text.hpp>
#include <distrun/runner/nodes/host_list.hpp>

namespace distrun::nodes {
namespace {

using Words = std::vector<std::string>;

std::string joined(const Words& words, char between) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : std::string(1, between)) + word;
  return text;
}

Words node_words(const NodeProgram& node) {
  Words words{node.path, "node", "--join", joined(node.joins, ',')};
  if (!node.directory.empty()) words.insert(words.end(), {"--directory", node.directory});
  return words;
}

Words node_words_of(const NodeProgram& node, const std::string& host) {
  Words words = node_words(node);
  words.insert(words.end(), {"--host", host});
  return words;
}

// Returns the words for a POSIX shell, which then sees them as they are.
std::string quoted(const Words& words) {
  Words each;
  for (const std::string& word : words) each.push_back(base::shell_quoted(word));
  return joined(each, ' ');
}

// BatchMode: ssh must not ask for a password. The remote shell reads the words, so they are quoted for it.
Words ssh_words(const NodeProgram& node, const std::string& host) {
  return {"ssh", "-o", "BatchMode=yes", host, "exec " + quoted(node_words_of(node, host))};
}

// The step shares the job's cores with other steps, binds nothing (ranks are bound by distrun), and goes on if a node
// fails: the coordinator decides what that means. A host knows its name by Slurm's variable alone.
Words srun_words(const NodeProgram& node, const std::vector<std::string>& hosts) {
  const std::string count = std::to_string(hosts.size());
  Words words{"srun", "--overlap", "--mpi=none", "--cpu-bind=none", "--kill-on-bad-exit=0", "--no-kill", "--wait=0"};
  words.insert(words.end(), {"-N", count, "-n", count, "--ntasks-per-node=1", "--nodelist=" + joined(hosts, ',')});
  words.insert(words.end(), {"/bin/sh", "-c", R"(exec "$0" "$@" --host "$SLURMD_NODENAME")"});
  const Words command = node_words(node);
  words.insert(words.end(), command.begin(), command.end());
  return words;
}

Words shell_words(std::string command, const NodeProgram& node, const std::string& host) {
  if (command.find("{node}") == command.npos) command += " {node}";
  base::replace_all(command, "{host}", host);
  base::replace_all(command, "{node}", quoted(node_words_of(node, host)));
  return {"/bin/sh", "-c", std::move(command)};
}

Words words_for(const Engine& engine, const NodeProgram& node, const std::string& host) {
  switch (engine.kind) {
    case EngineKind::Ssh: return ssh_words(node, host);
    case EngineKind::Command: return shell_words(engine.command, node, host);
    default: break;
  }
  // Several nodes of one machine would use the same temporary files.
  Words words = node_words_of(node, host);
  words.emplace_back("--own-tmp");
  return words;
}

}  // namespace

Engine parse_engine(const std::string& option, const std::string& text) {
  if (text == "local") return {EngineKind::Local, ""};
  if (text == "ssh") return {EngineKind::Ssh, ""};
  if (text == "slurm") return {EngineKind::Slurm, ""};
  if (text.find_first_of(" /{") != text.npos) return {EngineKind::Command, text};
  throw Error(ErrorKind::InvalidArgument,
              option + " " + base::one_line(text) + ": expected local, ssh, slurm, or a command for each host like " +
                  "'rsh {host} {node}'" + base::did_you_mean(text, {"local", "ssh", "slurm"}));
}

std::vector<EngineCommand> engine_commands(const Engine& engine, const std::vector<std::string>& hosts,
                                           const NodeProgram& node) {
  DISTRUN_ASSERT(!hosts.empty());
  DISTRUN_ASSERT(std::all_of(hosts.begin(), hosts.end(), is_host_name));
  if (engine.kind == EngineKind::Slurm) return {{srun_words(node, hosts), hosts}};
  std::vector<EngineCommand> commands;
  for (const std::string& host : hosts) commands.push_back({words_for(engine, node, host), {host}});
  return commands;
}

}  // namespace distrun::nodes
