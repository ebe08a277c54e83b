#include <distrun/runner/daemon/listener.hpp>

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>

#include <distrun/common/base/error.hpp>

namespace distrun::daemon {
namespace {

constexpr int kHandedOver = 3;  // the first descriptor passed by systemd
constexpr int kBacklog = 128;

bool names_us(const char* variable, const std::string& value) {
  const char* text = std::getenv(variable);
  return text != nullptr && value == text;
}

base::Fd take_handed_over() {
  base::Fd socket(kHandedOver);
  int listens = 0;
  socklen_t size = sizeof listens;
  if (::getsockopt(socket.get(), SOL_SOCKET, SO_ACCEPTCONN, &listens, &size) != 0 || listens == 0) {
    throw Error(ErrorKind::Failed, "descriptor 3 from LISTEN_FDS is not a listening socket");
  }
  ::fcntl(socket.get(), F_SETFD, FD_CLOEXEC);
  return socket;
}

sockaddr_un address_of(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  path.copy(address.sun_path, sizeof address.sun_path - 1);
  return address;
}

// A socket of systemd has a listener even without a daemon.
bool somebody_listens(const std::string& path) {
  const sockaddr_un address = address_of(path);
  const base::Fd socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!socket) base::throw_errno("cannot create a socket", errno);
  return ::connect(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0 ||
         errno != ECONNREFUSED;
}

// Removes the socket of a dead daemon. Throws if the path is anything else.
void remove_stale(const std::string& path) {
  struct stat status {};
  if (::lstat(path.c_str(), &status) != 0) return;
  if (!S_ISSOCK(status.st_mode))
    throw Error(ErrorKind::Failed, path + " is not a socket; remove it, or use --socket with another path");
  if (somebody_listens(path)) {
    throw Error(ErrorKind::Failed,
                "another program listens at " + path +
                    ", perhaps systemd for distrund.socket; use that one, or --socket with another path");
  }
  if (::unlink(path.c_str()) != 0) base::throw_errno("cannot remove the stale " + path, errno);
}

base::Fd make(const std::string& path) {
  const sockaddr_un address = address_of(path);
  base::Fd socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!socket) base::throw_errno("cannot create a socket", errno);
  const mode_t before = ::umask(0177);
  const int bound = ::bind(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address);
  const int number = errno;
  ::umask(before);
  if (bound != 0) base::throw_errno("cannot create " + path, number);
  if (::listen(socket.get(), kBacklog) != 0) base::throw_errno("cannot listen at " + path, errno);
  return socket;
}

}  // namespace

bool is_activated() { return names_us("LISTEN_FDS", "1") && names_us("LISTEN_PID", std::to_string(::getpid())); }

Listener::Listener(const std::string& path) {
  if (is_activated()) {
    socket_ = take_handed_over();
  } else {
    remove_stale(path);
    socket_ = make(path);
    path_ = path;
  }
  base::set_nonblocking(socket_.get());
}

Listener::~Listener() {
  if (!path_.empty()) ::unlink(path_.c_str());
}

}  // namespace distrun::daemon
