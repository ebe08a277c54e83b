#pragma once
// An engine is what starts a program on another host: ssh, Slurm's srun, a command of the user; or this process itself,
// for nodes on this machine. This file builds its commands, and starts nothing.
#include <cstdint>
#include <string>
#include <vector>

namespace distrun::nodes {

enum class EngineKind : std::uint8_t {
  Local,    // a process of this machine for each name
  Ssh,      // one ssh for each host
  Slurm,    // one srun for all hosts, in the allocation of this process
  Command,  // one shell command for each host
};

struct Engine {
  EngineKind kind = EngineKind::Local;
  std::string command;  // of Command; {host} and {node} stand for the host's name and the node's command
};

// Reads "local", "ssh", "slurm", or a command: a text with a space, '/' or '{'. Throws Error{InvalidArgument} that
// begins with `option`.
Engine parse_engine(const std::string& option, const std::string& text);

// The program that is started on every host.
struct NodeProgram {
  std::string path;                // of distrun, as the hosts see it
  std::vector<std::string> joins;  // where the coordinator listens: "10.0.0.1:4711"
  std::string directory{};         // in which it runs, as the hosts see it; empty: where the engine starts it
};

// One process of the coordinator's machine, which starts the nodes of these hosts.
struct EngineCommand {
  std::vector<std::string> words;  // the first is the program: a path, or a name to be found in PATH
  std::vector<std::string> hosts;
};

// Returns the commands for hosts with valid names (is_host_name). No command contains the run's secret: nodes read it
// from their standard input, which all engines pass on. A command of the user without {node} gets it at the end.
std::vector<EngineCommand> engine_commands(const Engine& engine, const std::vector<std::string>& hosts,
                                           const NodeProgram& node);

}  // namespace distrun::nodes
