#include "victims.hpp"

#include "scratch.hpp"

namespace distrun::testing {
namespace {

// Returns 0 without a child.
pid_t first_child_of(pid_t pid) {
  const std::vector<pid_t> children = pid == 0 ? std::vector<pid_t>{} : children_of(pid);
  return children.empty() ? 0 : children.front();
}

// Returns the command line of a process; the program's path and each argument end with a zero byte.
std::string command_line_of(pid_t pid) { return read_file("/proc/" + std::to_string(pid) + "/cmdline"); }

bool has(const std::string& command_line, const std::string& argument) {
  return command_line.find('\0' + argument + '\0') != std::string::npos;
}

bool is_program(const std::string& command_line, const std::string& name) {
  return command_line.substr(0, command_line.find('\0')).ends_with("/" + name);
}

Victim kind_of(const std::string& command_line, bool has_zygote) {
  if (is_program(command_line, "distrun-probe")) return Victim::Probe;
  if (has(command_line, "--list")) return Victim::Lister;
  // Children forked by a zygote have the same arguments, but a later position.
  return has(command_line, "--zygote") && !has_zygote ? Victim::Zygote : Victim::Rank;
}

std::vector<pid_t> children_that_are(pid_t coordinator, Victim victim) {
  std::vector<pid_t> found;
  bool has_zygote = false;
  for (const pid_t child : coordinator == 0 ? std::vector<pid_t>{} : children_of(coordinator)) {
    const std::string command_line = command_line_of(child);
    if (!is_program(command_line, "distrun-rank") && !is_program(command_line, "distrun-probe")) continue;
    const Victim kind = kind_of(command_line, has_zygote);
    has_zygote = has_zygote || kind == Victim::Zygote;
    if (kind == victim) found.push_back(child);
  }
  return found;
}

std::vector<pid_t> if_any(pid_t pid) { return pid == 0 ? std::vector<pid_t>{} : std::vector<pid_t>{pid}; }

}  // namespace

std::string name_of(Victim victim) {
  const char* const names[] = {"guard", "coordinator", "lister", "zygote", "rank", "probe", "daemon"};
  return names[static_cast<int>(victim)];
}

std::vector<pid_t> victims_of(const Running& running, const Daemon* daemon, Victim victim) {
  // A daemon's only child is the guard of its run.
  const pid_t guard = daemon == nullptr ? running.pid() : first_child_of(daemon->pid());
  if (victim == Victim::Daemon) return guard == 0 ? std::vector<pid_t>{} : if_any(daemon->pid());
  if (victim == Victim::Guard) return if_any(guard);
  const pid_t coordinator = first_child_of(guard);
  return victim == Victim::Coordinator ? if_any(coordinator) : children_that_are(coordinator, victim);
}

}  // namespace distrun::testing
