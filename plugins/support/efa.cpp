#include "efa.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>

namespace distrun::suites {
namespace {

constexpr int kNoProgram = 127;

int exit_code_of(pid_t child) {
  int status = 0;
  while (::waitpid(child, &status, 0) < 0) {
    if (errno != EINTR) return kNoProgram;
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : kNoProgram;
}

}  // namespace

bool probe_efa(const std::string& program) {
  std::string name = program, p = "-p", provider = "efa", t = "-t", endpoint = "FI_EP_RDM";
  const std::array<char*, 6> arguments{name.data(), p.data(), provider.data(), t.data(), endpoint.data(), nullptr};
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  ::posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  pid_t child = -1;
  const int failed = ::posix_spawnp(&child, program.c_str(), &actions, nullptr, arguments.data(), environ);
  ::posix_spawn_file_actions_destroy(&actions);
  return failed == 0 && exit_code_of(child) == 0;
}

bool has_efa() {
  static const bool answer = probe_efa("fi_info");
  return answer;
}

std::optional<std::vector<std::string>> transports_with(bool efa) {
  if (!efa) return std::nullopt;
  return std::vector<std::string>{"shm", "uv"};
}
std::optional<std::vector<std::string>> tp_transports() { return transports_with(has_efa()); }

}  // namespace distrun::suites
