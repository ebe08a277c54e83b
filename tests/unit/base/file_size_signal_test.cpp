// Files that grow beyond RLIMIT_FSIZE.
#include <catch2/catch.hpp>

#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>

#include <distrun/common/base/fd.hpp>
#include <distrun/common/base/file_size_signal.hpp>

#include "unit/support/limits.hpp"

namespace {

using distrun::testing::under_small_file_limit;

int grow() {
  const distrun::base::Fd file(::memfd_create("grows", MFD_CLOEXEC));
  return ::ftruncate(file.get(), 8192) == 0 ? 0 : errno;
}

}  // namespace

TEST_CASE("memory files count against the limit of file sizes, and end a process that is not careful") {
  CHECK(under_small_file_limit(grow) == -SIGXFSZ);
}

TEST_CASE("a file beyond the limit is an error where the signal is kept away, and the thread is as it was") {
  CHECK(under_small_file_limit([] {
          int number = 0;
          {
            const distrun::base::NoFileSizeSignal no_signal;
            number = grow();
          }
          sigset_t mask, pending;
          ::sigemptyset(&pending);
          ::pthread_sigmask(SIG_SETMASK, nullptr, &mask);
          ::sigpending(&pending);
          return sigismember(&mask, SIGXFSZ) == 0 && sigismember(&pending, SIGXFSZ) == 0 ? number : 99;
        }) == EFBIG);
  CHECK(under_small_file_limit([] {
          { const distrun::base::NoFileSizeSignal no_signal; }
          return grow();  // the program has its own handling again
        }) == -SIGXFSZ);
}

TEST_CASE("the signal of file sizes stays blocked where it was blocked before") {
  CHECK(under_small_file_limit([] {
          sigset_t signals, mask;
          ::sigemptyset(&signals);
          ::sigaddset(&signals, SIGXFSZ);
          ::pthread_sigmask(SIG_BLOCK, &signals, nullptr);
          const int number = [] {
            const distrun::base::NoFileSizeSignal no_signal;
            return grow();
          }();
          ::pthread_sigmask(SIG_SETMASK, nullptr, &mask);
          return sigismember(&mask, SIGXFSZ) == 1 ? number : 99;
        }) == EFBIG);
}
