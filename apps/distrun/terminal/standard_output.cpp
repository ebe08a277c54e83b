#include "standard_output.hpp"

#include <cerrno>
#include <cstdio>

#include <distrun/common/base/error.hpp>

#include "commands/exit_codes.hpp"

namespace distrun::cli {

int with_output_written(int code) {
  errno = 0;
  const bool flushed = std::fflush(stdout) == 0;
  const int number = errno;
  if (flushed && std::ferror(stdout) == 0) return code;
  std::clearerr(stdout);  // it is told once
  if (number == EPIPE) return code;
  std::fprintf(stderr, "distrun: cannot write standard output%s\n",
               number == 0 ? "" : (": " + base::errno_text(number)).c_str());
  return code == kInterrupted ? code : kInfraError;
}

}  // namespace distrun::cli
