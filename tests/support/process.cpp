#include "process.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <memory>
#include <sstream>
#include <stdexcept>
#include <utility>

#include "scratch.hpp"

namespace distrun::testing {
namespace {

using Clock = std::chrono::steady_clock;

std::vector<char*> pointers(std::vector<std::string>& strings) {
  std::vector<char*> result;
  for (std::string& string : strings) result.push_back(string.data());
  result.push_back(nullptr);
  return result;
}

// The arguments of posix_spawn; frees them.
class SpawnPlan {
 public:
  SpawnPlan() {
    posix_spawn_file_actions_init(&actions);
    posix_spawnattr_init(&attributes);
    sigset_t none;
    sigset_t all;
    sigemptyset(&none);
    sigfillset(&all);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setsigdefault(&attributes, &all);
    posix_spawnattr_setpgroup(&attributes, 0);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  }
  ~SpawnPlan() {
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
  }
  SpawnPlan(const SpawnPlan&) = delete;
  SpawnPlan& operator=(const SpawnPlan&) = delete;

  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
};

void redirect(SpawnPlan& plan, const Command& command) {
  constexpr int kFlags = O_WRONLY | O_CREAT | O_TRUNC;
  const std::string stem = command.capture.empty() ? "/dev/null" : command.capture;
  const std::string out = command.capture.empty() ? stem : stem + ".out";
  const std::string err = command.capture.empty() ? stem : stem + ".err";
  if (!command.standard_output) {
    posix_spawn_file_actions_addopen(&plan.actions, 1, out.c_str(), kFlags, 0600);
  } else if (*command.standard_output >= 0) {
    posix_spawn_file_actions_adddup2(&plan.actions, *command.standard_output, 1);
  } else {
    posix_spawn_file_actions_addclose(&plan.actions, 1);
  }
  posix_spawn_file_actions_addopen(&plan.actions, 2, err.c_str(), kFlags, 0600);
}

// Fixtures crash on purpose; their core files are not needed.
void no_core_files() {
  rlimit limit{};
  getrlimit(RLIMIT_CORE, &limit);
  limit.rlim_cur = 0;
  setrlimit(RLIMIT_CORE, &limit);
}

std::string proc(pid_t pid, const char* file) { return "/proc/" + std::to_string(pid) + "/" + file; }

std::optional<ProcessInfo> read_process(pid_t pid) {
  const std::string stat = read_file(proc(pid, "stat"));
  const std::size_t open = stat.find('(');
  const std::size_t close = stat.rfind(')');
  if (open == std::string::npos || close == std::string::npos) return std::nullopt;
  ProcessInfo info;
  info.pid = pid;
  info.name = stat.substr(open + 1, close - open - 1);
  std::istringstream rest(stat.substr(close + 1));
  rest >> info.state >> info.parent >> info.group >> info.session;
  return info;
}

}  // namespace

Running::Running(Command command) : command_(std::move(command)), started_(Clock::now()) {
  no_core_files();
  SpawnPlan plan;
  redirect(plan, command_);
  posix_spawn_file_actions_addchdir_np(&plan.actions, command_.directory.c_str());
  std::vector<std::string> arguments = command_.arguments;
  arguments.insert(arguments.begin(), command_.program);
  const int error = posix_spawn(&pid_, command_.program.c_str(), &plan.actions, &plan.attributes,
                                pointers(arguments).data(), pointers(command_.environment).data());
  if (error != 0) {
    throw std::runtime_error("cannot start " + command_.program + ": " + std::strerror(error));
  }
  pidfd_ = static_cast<int>(syscall(SYS_pidfd_open, pid_, 0));
}

Running::Running(Running&& other) noexcept
    : command_(std::move(other.command_)),
      started_(other.started_),
      pid_(std::exchange(other.pid_, 0)),
      pidfd_(std::exchange(other.pidfd_, -1)) {}

Running::~Running() {
  if (pid_ == 0) return;
  kill(-pid_, SIGKILL);
  waitpid(pid_, nullptr, 0);
  close(pidfd_);
}

void Running::signal(int number) const { kill(pid_, number); }

bool Running::ends_within(milliseconds limit) const {
  pollfd ended{pidfd_, POLLIN, 0};
  return poll(&ended, 1, static_cast<int>(std::max(limit, milliseconds(0)).count())) > 0;
}

Ended Running::wait(milliseconds limit) {
  Ended ended;
  ended.out_of_time = !ends_within(limit);
  if (ended.out_of_time) kill(-pid_, SIGKILL);
  int status = 0;
  waitpid(pid_, &status, 0);
  ended.duration = std::chrono::duration_cast<milliseconds>(Clock::now() - started_);
  close(pidfd_);
  pid_ = 0;
  if (WIFEXITED(status)) ended.exit_code = WEXITSTATUS(status);
  if (WIFSIGNALED(status)) ended.signal = WTERMSIG(status);
  ended.out = read_file(command_.capture + ".out");
  ended.err = read_file(command_.capture + ".err");
  return ended;
}

void pause_for(milliseconds length) { poll(nullptr, 0, static_cast<int>(length.count())); }

std::string ProcessInfo::describe() const {
  return "process " + std::to_string(pid) + " (" + name + ", state " + state + ", parent " + std::to_string(parent) +
         ", group " + std::to_string(group) + ", session " + std::to_string(session) + ")";
}

std::vector<ProcessInfo> living_processes() {
  std::vector<ProcessInfo> found;
  for (const std::string& name : names_in("/proc")) {
    const pid_t pid = std::atoi(name.c_str());
    if (pid <= 0) continue;
    if (auto info = read_process(pid); info && info->state != 'Z' && info->state != 'X') {
      found.push_back(*info);
    }
  }
  return found;
}

std::string environment_of(pid_t pid, const std::string& name) {
  const std::string all = '\0' + read_file(proc(pid, "environ"));
  const std::string start = '\0' + name + "=";
  const std::size_t at = all.find(start);
  if (at == std::string::npos) return "";
  const std::size_t value = at + start.size();
  return all.substr(value, all.find('\0', value) - value);
}

bool has_environment(pid_t pid, const std::string& entry) {
  const std::string all = '\0' + read_file(proc(pid, "environ")) + '\0';
  return all.find('\0' + entry + '\0') != std::string::npos;
}

std::vector<pid_t> children_of(pid_t pid) {
  std::istringstream in(read_file(proc(pid, ("task/" + std::to_string(pid) + "/children").c_str())));
  std::vector<pid_t> children;
  for (pid_t child = 0; in >> child;) children.push_back(child);
  return children;
}

bool is_alive(pid_t pid) {
  const auto info = read_process(pid);
  return info && info->state != 'Z' && info->state != 'X';
}

}  // namespace distrun::testing
