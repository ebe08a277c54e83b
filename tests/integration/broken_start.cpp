// Starts a program in a broken state, as some supervisors, cron jobs, agents and shells do.
//
//   broken_start STATE PROGRAM [ARGUMENT...]
//
// Exits with 125 and a reason if the state is impossible here.
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <functional>
#include <map>
#include <string>

namespace {

constexpr int kNotHere = 125;

[[noreturn]] void give_up(const char* what) {
  std::printf("cannot %s here: %s\n", what, std::strerror(errno));
  std::fflush(stdout);
  _exit(kNotHere);
}

void ignore(int signal) { ::signal(signal, SIG_IGN); }

void ignore_all() {
  for (int signal = 1; signal < NSIG; ++signal) ignore(signal);
}

void block_all() {
  sigset_t all;
  sigfillset(&all);
  sigprocmask(SIG_SETMASK, &all, nullptr);
}

void close_all() {
  for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; ++fd) close(fd);
}

// Makes a removed directory the current one.
void leave_directory() {
  char place[] = "/tmp/distrun-gone-XXXXXX";
  if (mkdtemp(place) == nullptr || chdir(place) != 0 || rmdir(place) != 0) give_up("make a directory");
}

// A private, nearly empty /dev.
void hide_null() {
  if (unshare(CLONE_NEWNS) != 0) {
    const std::string own = std::to_string(getuid());
    if (unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0) give_up("have mounts of its own");
    std::ofstream("/proc/self/uid_map") << own << " " << own << " 1";  // files need an owner
  }
  if (mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0) give_up("make mounts private");
  if (mount("none", "/dev", "tmpfs", 0, nullptr) != 0) give_up("mount over /dev");
  if (mkdir("/dev/shm", 01777) != 0) give_up("make /dev/shm");
}

// Has a child, like a shell that has started a process and then becomes the program.
void have_child() {
  if (fork() == 0) {
    execlp("sleep", "sleep", "60", nullptr);
    _exit(kNotHere);
  }
}

void have_few_files() {
  rlimit limit{};
  getrlimit(RLIMIT_NOFILE, &limit);
  limit.rlim_cur = 12;
  if (setrlimit(RLIMIT_NOFILE, &limit) != 0) give_up("limit files");
}

const std::map<std::string, std::function<void()>>& states() {
  static const std::map<std::string, std::function<void()>> all{
      {"SIGCHLD ignored", [] { ignore(SIGCHLD); }},
      {"SIGHUP ignored", [] { ignore(SIGHUP); }},
      {"all ignored", ignore_all},
      {"all blocked", block_all},
      {"all ignored and blocked", [] { ignore_all(), block_all(); }},
      {"umask 0777", [] { umask(0777); }},
      {"umask 0", [] { umask(0); }},
      {"input closed", [] { close(STDIN_FILENO); }},
      {"output closed", [] { close(STDOUT_FILENO); }},
      {"errors closed", [] { close(STDERR_FILENO); }},
      {"streams closed", close_all},
      {"few files", have_few_files},
      {"a child", have_child},
      {"directory gone", leave_directory},
      {"no /dev/null", hide_null},
      {"no /dev/null and streams closed", [] { hide_null(), close_all(); }},
  };
  return all;
}

}  // namespace

int main(int argc, char** argv) {
  const auto state = argc > 2 ? states().find(argv[1]) : states().end();
  if (state == states().end()) return kNotHere;
  state->second();
  execv(argv[2], argv + 2);
  give_up("start the program");
}
