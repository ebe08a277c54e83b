#include <distrun/runner/proc/forked_helper.hpp>

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <exception>
#include <vector>

namespace distrun::proc {
namespace {

constexpr int kFirst = 3;

// The child has copies of everything that its parent has open: a rank's socket would seem to live on.
bool keep_only(std::initializer_list<int> kept) {
  const int end = kFirst + static_cast<int>(kept.size());
  std::vector<int> high;  // above the places of all, so that none is overwritten
  for (const int fd : kept) high.push_back(::fcntl(fd, F_DUPFD, end));
  int place = kFirst;
  for (const int fd : high) {
    if (fd < 0 || ::dup2(fd, place++) < 0) return false;
  }
  return ::close_range(static_cast<unsigned>(end), ~0U, 0) == 0;
}

}  // namespace

pid_t fork_helper(const char* name, std::initializer_list<int> kept, const std::function<void()>& serve) {
  const pid_t parent = ::getpid();
  const pid_t pid = ::fork();
  if (pid != 0) return pid;
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  ::prctl(PR_SET_NAME, name);
  ::setsid();  // the terminal's signals are for the parent
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGCHLD}) ::signal(signal, SIG_DFL);
  try {
    if (::getppid() == parent && keep_only(kept)) serve();
  } catch (const std::exception&) {
    // Its users see the end of its descriptors.
  }
  ::_exit(0);
}

}  // namespace distrun::proc
