#pragma once
// Limits of this process, for a scope.
#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstddef>
#include <fstream>

namespace distrun::testing {

// Allows the process to open only `room` more descriptors.
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

// Makes the calling thread's stack as large as it will get. Without memory it could not grow, which is no fault of what
// runs on it.
[[gnu::noinline]] inline void use_stack() {
  volatile char used[512 << 10];
  for (std::size_t at = 0; at < sizeof used; at += 1024) used[at] = 1;
}

// Limits the memory that the process may map to `more` bytes beyond what it has mapped.
class LittleMemory {
 public:
  explicit LittleMemory(rlim_t more) {
    ::getrlimit(RLIMIT_AS, &before_);
    rlim_t pages = 0;
    std::ifstream("/proc/self/statm") >> pages;
    rlimit little = before_;
    little.rlim_cur = pages * static_cast<rlim_t>(::sysconf(_SC_PAGESIZE)) + more;
    ::setrlimit(RLIMIT_AS, &little);
  }
  ~LittleMemory() { ::setrlimit(RLIMIT_AS, &before_); }
  LittleMemory(const LittleMemory&) = delete;
  LittleMemory& operator=(const LittleMemory&) = delete;

 private:
  rlimit before_{};
};

}  // namespace distrun::testing
