#include "hosts.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <stdexcept>
#include <utility>

#include "scratch.hpp"

namespace distrun::testing {
namespace {

constexpr char kScript[] = DISTRUN_CLUSTER_SCRIPT;
constexpr char kClusterDir[] = "/run/cluster";
constexpr char kHead[] = "head";
constexpr milliseconds kStartLimit{30'000};
constexpr milliseconds kEndLimit{10'000};
constexpr milliseconds kActLimit{10'000};

[[noreturn]] void fail(const std::string& what) { throw std::runtime_error("imitated hosts: " + what); }
[[noreturn]] void fail_with_errno(const std::string& what) { fail(what + ": " + std::strerror(errno)); }

std::vector<std::string> own_environment() {
  std::vector<std::string> entries;
  for (char** entry = environ; *entry != nullptr; ++entry) entries.emplace_back(*entry);
  return entries;
}

int open_namespace(const std::string& process, const char* kind) {
  const std::string path = "/proc/" + process + "/ns/" + kind;
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) fail_with_errno("cannot open " + path);
  return fd;
}

// Gives the calling thread another namespace; returns its own. No test could go on in the wrong one.
int exchange_namespace(pid_t target, const char* kind, int type) {
  const int other = open_namespace(std::to_string(target), kind);
  const int own = open_namespace("thread-self", kind);
  const int failed = setns(other, type);
  const int error = errno;
  close(other);
  if (failed == 0) return own;
  close(own);
  errno = error;
  fail_with_errno("cannot enter a host");
}
void return_to_namespace(int own, int type) {
  if (setns(own, type) != 0) {
    std::perror("imitated hosts: cannot return from a host");
    std::abort();
  }
  close(own);
}

// While this exists, the processes that the calling thread starts are in the host's PID namespace. Their ids here are
// still those of this process's own namespace.
class ChildrenOnHost {
 public:
  explicit ChildrenOnHost(pid_t first) : own_(exchange_namespace(first, "pid", CLONE_NEWPID)) {}
  ~ChildrenOnHost() { return_to_namespace(own_, CLONE_NEWPID); }
  ChildrenOnHost(const ChildrenOnHost&) = delete;
  ChildrenOnHost& operator=(const ChildrenOnHost&) = delete;

 private:
  int own_;
};

// node02 has 10.77.2.2.
std::string address_of(const std::string& name) {
  return "10.77." + std::to_string(std::stoi(name.substr(std::strlen("node")))) + ".2";
}

pid_t only_child_of(pid_t pid) {
  const std::vector<pid_t> children = children_of(pid);
  if (children.size() != 1) fail("process " + std::to_string(pid) + " of scripts/cluster has no single child");
  return children.front();
}

// The cluster's command: says that the hosts are there, and ends when its input does.
std::vector<std::string> script_arguments(int count, const std::vector<std::string>& shared) {
  std::vector<std::string> arguments{kScript, std::to_string(count), "--no-slurm", "--no-ssh"};
  for (const std::string& folder : shared) {
    arguments.push_back("--share");
    arguments.push_back(folder);
  }
  for (const char* word : {"--", "sh", "-c", "echo ready; read -r _"}) arguments.emplace_back(word);
  return arguments;
}

pid_t spawn_script(std::vector<std::string> arguments, int input, int output, int errors) {
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  posix_spawn_file_actions_init(&actions);
  posix_spawnattr_init(&attributes);
  posix_spawn_file_actions_adddup2(&actions, input, 0);
  posix_spawn_file_actions_adddup2(&actions, output, 1);
  posix_spawn_file_actions_adddup2(&actions, errors, 2);
  sigset_t none;
  sigset_t all;
  sigemptyset(&none);
  sigfillset(&all);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setsigdefault(&attributes, &all);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  std::vector<char*> pointers;
  for (std::string& argument : arguments) pointers.push_back(argument.data());
  pointers.push_back(nullptr);
  pid_t pid = 0;
  const int error = posix_spawn(&pid, kScript, &actions, &attributes, pointers.data(), environ);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0) fail(std::string("cannot start ") + kScript + ": " + std::strerror(error));
  return pid;
}

std::string content_of(int file) {
  std::string text(4096, '\0');
  const ssize_t length = pread(file, text.data(), text.size(), 0);
  text.resize(length > 0 ? static_cast<std::size_t>(length) : 0);
  return text;
}

std::string try_hosts() {
  if (geteuid() != 0) return "imitated hosts need root";
  if (!exists(kScript)) return std::string("imitated hosts need ") + kScript + ", which is not there";
  const Scratch scratch;
  const Command check{kScript, {"--check"}, own_environment(), ".", scratch.path() + "/check"};
  const Ended ended = Running(check).wait(kStartLimit);
  if (ended.exit_code == 0) return "";
  return ended.err.empty() ? "scripts/cluster --check failed" : ended.err.substr(0, ended.err.find('\n'));
}

}  // namespace

const std::string& why_no_hosts() {
  static const std::string reason = try_hosts();
  return reason;
}

ImitatedHosts::ImitatedHosts(int count, const std::vector<std::string>& shared) {
  int input[2];
  int output[2];
  if (pipe2(input, O_CLOEXEC) != 0 || pipe2(output, O_CLOEXEC) != 0) fail_with_errno("no pipe");
  input_ = input[1];
  output_ = output[0];
  errors_ = memfd_create("cluster-errors", MFD_CLOEXEC);
  try {
    pid_ = spawn_script(script_arguments(count, shared), input[0], output[1], errors_);
    close(std::exchange(input[0], -1));
    close(std::exchange(output[1], -1));
    await_start();
    find_first_processes();
  } catch (...) {
    for (const int fd : {input[0], output[1]}) {
      if (fd >= 0) close(fd);
    }
    end();
    throw;
  }
}

ImitatedHosts::~ImitatedHosts() { end(); }

void ImitatedHosts::await_start() {
  pollfd waiting{output_, POLLIN, 0};
  if (poll(&waiting, 1, static_cast<int>(kStartLimit.count())) <= 0) fail("not started within 30 s");
  char word[16];
  if (read(output_, word, sizeof word) <= 0) fail("not started: " + content_of(errors_));
}

// The script starts `unshare`, which starts the head; the head has a shell for each host, which starts `unshare`, which
// starts the host.
void ImitatedHosts::find_first_processes() {
  head_ = {kHead, "10.77.0.1", only_child_of(only_child_of(pid_))};
  for (const pid_t shell : children_of(head_.first)) {
    for (const pid_t unshare : children_of(shell)) {
      const std::string name = environment_of(unshare, "CLUSTER_STAGE");
      hosts_.push_back({name, address_of(name), only_child_of(unshare)});
    }
  }
}

void ImitatedHosts::end() noexcept {
  if (input_ >= 0) close(input_);
  if (pid_ > 0) {
    // A kernel takes a moment to end a PID namespace; the script ends after that.
    if (!eventually(kEndLimit, [&] { return waitpid(pid_, nullptr, WNOHANG) != 0; })) {
      kill(-pid_, SIGKILL);
      waitpid(pid_, nullptr, 0);
    }
  }
  close(output_);
  close(errors_);
}

const ImitatedHost& ImitatedHosts::host(const std::string& name) const {
  if (name == kHead) return head_;
  for (const ImitatedHost& host : hosts_) {
    if (host.name == name) return host;
  }
  throw std::out_of_range("no imitated host is called " + name);
}

// A process changes its PID namespace only by being started in it; nsenter enters the others.
Running ImitatedHosts::start(const std::string& host, Command command) const {
  const std::string first = std::to_string(this->host(host).first);
  std::vector<std::string> arguments{"--target", first, "--mount", "--uts", "--ipc", "--net"};
  if (exists("/proc/self/ns/time")) arguments.emplace_back("--time");
  const std::string directory = std::filesystem::absolute(std::exchange(command.directory, "/")).string();
  arguments.insert(arguments.end(), {"--wdns=" + directory, "--", command.program});
  arguments.insert(arguments.end(), command.arguments.begin(), command.arguments.end());
  command.arguments = std::move(arguments);
  command.program = "/usr/bin/nsenter";
  if (!command.capture.empty()) command.capture = std::filesystem::absolute(command.capture).string();
  const ChildrenOnHost in(this->host(host).first);
  return Running(std::move(command));
}

Ended ImitatedHosts::run(const std::string& host, Command command, milliseconds limit) const {
  return start(host, std::move(command)).wait(limit);
}

void ImitatedHosts::act(const char* option, const std::string& host) const {
  const Scratch scratch;
  Command command{
      std::string(kScript) + "-do", {option, this->host(host).name}, own_environment(), "/", scratch.path() + "/act"};
  command.environment.push_back(std::string("CLUSTER_DIR=") + kClusterDir);
  const Ended ended = run(kHead, std::move(command), kActLimit);
  if (ended.exit_code != 0) fail(std::string("cluster-do ") + option + " " + host + ": " + ended.err);
}

void ImitatedHosts::link_down(const std::string& host) const { act("--link-down", host); }
void ImitatedHosts::link_up(const std::string& host) const { act("--link-up", host); }
void ImitatedHosts::blackhole(const std::string& host) const { act("--blackhole", host); }
void ImitatedHosts::undo(const std::string& host) const { act("--undo", host); }
void ImitatedHosts::kill_all(const std::string& host) const { act("--kill", host); }

InNetworkOf::InNetworkOf(const ImitatedHosts& hosts, const std::string& host)
    : own_(exchange_namespace(hosts.host(host).first, "net", CLONE_NEWNET)) {}
InNetworkOf::~InNetworkOf() { return_to_namespace(own_, CLONE_NEWNET); }

}  // namespace distrun::testing
