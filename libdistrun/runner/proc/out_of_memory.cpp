#include <distrun/runner/proc/out_of_memory.hpp>

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <new>

namespace distrun::proc {
namespace {

int code_without_memory = 1;

// Must not allocate.
[[noreturn]] void end() {
  char text[240];
  rlimit limit{};
  const bool limited = ::getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY;
  const int size =
      limited ? std::snprintf(text, sizeof text,
                              "distrun: out of memory; the limit of address space is %llu MiB (RLIMIT_AS); raise it, "
                              "for example with ulimit -v\n",
                              static_cast<unsigned long long>(limit.rlim_cur >> 20U))
              : std::snprintf(text, sizeof text, "distrun: out of memory, on this machine or in its control group\n");
  const auto length = std::min(static_cast<std::size_t>(size), sizeof text - 1);
  [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, text, length);
  ::_exit(code_without_memory);
}

}  // namespace

void end_when_out_of_memory(int exit_code) {
  code_without_memory = exit_code;
  std::set_new_handler(end);
}

}  // namespace distrun::proc
