#include "standard_output.hpp"

#include <unistd.h>

#include <cerrno>
#include <cstdio>

#include <distrun/common/base/error.hpp>

#include "commands/exit_codes.hpp"

namespace distrun::cli {
namespace {

// The C library does not keep the reason why an earlier write failed, so the descriptor is written once more. The
// output is incomplete in any case.
int reason_of_earlier_failure() { return ::write(STDOUT_FILENO, "\n", 1) < 0 ? errno : 0; }

}  // namespace

int with_output_written(int code) {
  errno = 0;
  const bool flushed = std::fflush(stdout) == 0;
  int number = errno;
  if (flushed && std::ferror(stdout) == 0) return code;
  if (number == 0) number = reason_of_earlier_failure();
  std::clearerr(stdout);  // report it once
  if (number == EPIPE) return code;
  std::fprintf(stderr, "distrun: cannot write standard output%s\n",
               number == 0 ? "" : (": " + base::errno_text(number)).c_str());
  return code == kInterrupted ? code : kInfraError;
}

}  // namespace distrun::cli
