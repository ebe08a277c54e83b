#include <distrun/daemon/own_run.hpp>

#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <string_view>

#include <distrun/base/error.hpp>
#include <distrun/base/fd.hpp>

namespace distrun::daemon {
namespace {

bool is_run_id(std::string_view text) {
  return text.size() == kRunIdDigits && text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

}  // namespace

std::string enter_own_run() {
  const char* value = std::getenv(kOwnRunVariable);
  if (value == nullptr) return "";
  const std::string run_id = value;
  ::unsetenv(kOwnRunVariable);
  if (!is_run_id(run_id)) return "";  // not the daemon's doing
  const base::Fd directory(kDirectoryDescriptor);
  if (::fchdir(directory.get()) != 0) base::throw_errno("cannot enter the directory that the client is in", errno);
  return run_id;
}

}  // namespace distrun::daemon
