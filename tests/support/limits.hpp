#pragma once
// Limits of this process, for a scope.
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <functional>

namespace distrun::testing {

// So many descriptors more may be opened, and no others.
class FewFiles {
 public:
  explicit FewFiles(int room) {
    ::getrlimit(RLIMIT_NOFILE, &before_);
    rlimit few = before_;
    for (few.rlim_cur = 0;; ++few.rlim_cur) {
      const bool is_free = ::fcntl(static_cast<int>(few.rlim_cur), F_GETFD) < 0;
      if (is_free && room-- == 0) break;
    }
    limit_ = few.rlim_cur;
    ::setrlimit(RLIMIT_NOFILE, &few);
  }
  ~FewFiles() { ::setrlimit(RLIMIT_NOFILE, &before_); }
  FewFiles(const FewFiles&) = delete;
  FewFiles& operator=(const FewFiles&) = delete;

  rlim_t limit() const noexcept { return limit_; }

 private:
  rlimit before_{};
  rlim_t limit_ = 0;
};

// What `body` returns in a forked process whose files may have 4 KiB, in which SIGXFSZ has its default effect; the
// signal that ends it, below 0. `body` must not use Catch's macros.
inline int under_small_file_limit(const std::function<int()>& body) {
  const pid_t child = ::fork();
  if (child == 0) {
    ::signal(SIGXFSZ, SIG_DFL);
    rlimit limit{};
    ::getrlimit(RLIMIT_FSIZE, &limit);
    limit.rlim_cur = 4096;
    ::setrlimit(RLIMIT_FSIZE, &limit);
    ::_exit(body());
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
}

}  // namespace distrun::testing
