// Prints the state of a started program, one line per item: descriptors, signals, group, arguments, environment.
#include <dirent.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <set>
#include <string>

namespace {

std::string target_of(int fd) {
  char target[256] = "";
  const ssize_t size = ::readlink(("/proc/self/fd/" + std::to_string(fd)).c_str(), target, sizeof target - 1);
  return size > 0 ? target : "?";
}

void show_descriptors() {
  DIR* files = ::opendir("/proc/self/fd");
  std::set<int> numbers;
  while (const dirent* entry = ::readdir(files)) {
    if (entry->d_name[0] != '.') numbers.insert(std::stoi(entry->d_name));
  }
  numbers.erase(::dirfd(files));
  ::closedir(files);
  for (const int fd : numbers) {
    struct stat status {};
    ::fstat(fd, &status);
    std::printf("fd %d %s %llu\n", fd, target_of(fd) == "/dev/null" ? "/dev/null" : "-",
                static_cast<unsigned long long>(status.st_ino));
  }
}

void show_signals() {
  sigset_t mask;
  ::sigprocmask(SIG_SETMASK, nullptr, &mask);
  for (int signal = 1; signal < SIGRTMIN; ++signal) {
    if (::sigismember(&mask, signal) == 1) std::printf("blocked %d\n", signal);
    struct sigaction action {};
    if (::sigaction(signal, nullptr, &action) == 0 && action.sa_handler == SIG_IGN) std::printf("ignored %d\n", signal);
  }
}

}  // namespace

int main(int argc, char** argv) {
  show_descriptors();
  show_signals();
  std::printf("leads %d\n", ::getpgid(0) == ::getpid() ? 1 : 0);
  for (int i = 1; i < argc; ++i) std::printf("argument %s\n", argv[i]);
  for (char** entry = environ; *entry != nullptr; ++entry) std::printf("environment %s\n", *entry);
  return 7;
}
