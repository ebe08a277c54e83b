#include <distrun/runner/daemon/own_run.hpp>

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <string_view>

#include <distrun/common/base/error.hpp>

namespace distrun::daemon {
namespace {

bool is_run_id(std::string_view text) {
  return text.size() == kRunIdDigits && text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

}  // namespace

void OwnRun::give_place_back() {
  if (place) (void)!::write(place.get(), "x", 1);
  place.reset();
}

std::optional<OwnRun> enter_own_run() {
  const char* value = std::getenv(kOwnRunVariable);
  if (value == nullptr) return std::nullopt;
  const std::string run_id = value;
  ::unsetenv(kOwnRunVariable);
  if (!is_run_id(run_id)) return std::nullopt;  // not set by the daemon
  const base::Fd directory(kDirectoryDescriptor);
  if (::fchdir(directory.get()) != 0) base::throw_errno("cannot enter the client's directory", errno);
  ::fcntl(kPlaceDescriptor, F_SETFD, FD_CLOEXEC);
  return OwnRun{run_id, base::Fd(kPlaceDescriptor)};
}

}  // namespace distrun::daemon
