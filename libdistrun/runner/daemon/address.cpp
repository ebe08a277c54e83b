#include <distrun/runner/daemon/address.hpp>

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>

#include <distrun/common/base/error.hpp>
#include <distrun/common/base/fd.hpp>
#include <distrun/common/base/text.hpp>

namespace distrun::daemon {
namespace {

constexpr std::size_t kPathMax = sizeof(sockaddr_un::sun_path) - 1;

std::string value_of(const char* variable) {
  const char* value = std::getenv(variable);
  return value == nullptr ? "" : value;
}

std::string usual_folder() {
  const std::string runtime = value_of("XDG_RUNTIME_DIR");
  return runtime.starts_with('/') ? runtime + "/distrun" : "/tmp/distrun-" + std::to_string(::getuid());
}

std::string folder_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  return slash == 0 ? "/" : path.substr(0, slash);
}

}  // namespace

std::string socket_path(const std::string& given) {
  const std::string named = given.empty() ? value_of("DISTRUN_DAEMON_SOCKET") : given;
  const std::string path = named.empty() ? usual_folder() + "/daemon.sock" : named;
  if (!path.starts_with('/') || path.ends_with('/') || path.size() > kPathMax) {
    throw Error(ErrorKind::InvalidArgument, "the daemon's socket " + base::one_line(path) +
                                                ": expected an absolute path of at most " + std::to_string(kPathMax) +
                                                " bytes");
  }
  return path;
}

void prepare_folder_of(const std::string& socket) {
  const std::string folder = folder_of(socket);
  const bool is_usual = folder == usual_folder();
  if (is_usual && ::mkdir(folder.c_str(), 0700) != 0 && errno != EEXIST) {
    base::throw_errno("cannot create " + folder, errno);
  }
  const base::Fd directory(::open(folder.c_str(), O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  struct stat status {};
  if (!directory || ::fstat(directory.get(), &status) != 0) base::throw_errno("cannot use " + folder, errno);
  if (status.st_uid != ::getuid() || (status.st_mode & (is_usual ? 077U : 022U)) != 0) {
    throw Error(ErrorKind::Failed, folder +
                                       " is not private to this user, so another user could replace the socket; make "
                                       "this user its owner and set mode 0700, or use --socket with another path");
  }
}

}  // namespace distrun::daemon
