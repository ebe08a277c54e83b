#include "terminal_session.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <stdexcept>
#include <utility>
#include <vector>

namespace distrun::testing {
namespace {

std::vector<char*> pointers(const std::vector<std::string>& strings) {
  std::vector<char*> result;
  for (const std::string& string : strings) result.push_back(const_cast<char*>(string.c_str()));
  result.push_back(nullptr);
  return result;
}

// Runs in the child: system calls only.
[[noreturn]] void become(const char* name, const char* directory, char* const* arguments, char* const* environment) {
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  setsid();
  const int terminal = open(name, O_RDWR);  // becomes the controlling terminal: the first that a session leader opens
  for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; ++fd) dup2(terminal, fd);
  close_range(STDERR_FILENO + 1, ~0U, 0);
  if (terminal >= 0 && chdir(directory) == 0) execve(arguments[0], arguments, environment);
  _exit(127);
}

}  // namespace

TerminalSession::TerminalSession(const Command& command)
    : terminal_(posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC | O_NONBLOCK)) {
  char name[64] = "";
  if (terminal_ < 0 || grantpt(terminal_) != 0 || unlockpt(terminal_) != 0 ||
      ptsname_r(terminal_, name, sizeof name) != 0) {
    throw std::runtime_error("there is no terminal to be had");
  }
  std::vector<std::string> words = command.arguments;
  words.insert(words.begin(), command.program);
  const std::vector<char*> arguments = pointers(words);
  const std::vector<char*> environment = pointers(command.environment);
  pid_ = fork();
  if (pid_ == 0) become(name, command.directory.c_str(), arguments.data(), environment.data());
}

TerminalSession::~TerminalSession() {
  hang_up();
  if (pid_ <= 0) return;
  kill(pid_, SIGKILL);
  waitpid(pid_, nullptr, 0);
}

std::string TerminalSession::read_some() {
  std::string text;
  char buffer[4096];
  for (ssize_t got = 0; terminal_ >= 0 && (got = ::read(terminal_, buffer, sizeof buffer)) > 0;) {
    text.append(buffer, static_cast<std::size_t>(got));
  }
  return text;
}

void TerminalSession::type(const std::string& keys) const { (void)!::write(terminal_, keys.data(), keys.size()); }

void TerminalSession::hang_up() {
  if (terminal_ >= 0) close(std::exchange(terminal_, -1));
}

Ended TerminalSession::wait(milliseconds limit) {
  Ended ended;
  int status = 0;
  const bool in_time = eventually(limit, [&] {
    ended.out += read_some();  // a full terminal would block the program
    return waitpid(pid_, &status, WNOHANG) == pid_;
  });
  ended.out_of_time = !in_time;
  if (!in_time) {
    kill(pid_, SIGKILL);
    waitpid(pid_, &status, 0);
  }
  pid_ = 0;
  if (WIFEXITED(status)) ended.exit_code = WEXITSTATUS(status);
  if (WIFSIGNALED(status)) ended.signal = WTERMSIG(status);
  return ended;
}

}  // namespace distrun::testing
