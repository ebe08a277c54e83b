#include <distrun/common/base/free_port.hpp>

#include <netinet/in.h>
#include <sys/socket.h>

#include <cerrno>

#include <distrun/common/base/error.hpp>
#include <distrun/common/base/fd.hpp>

namespace distrun::base {

int find_free_port() {
  const Fd socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  auto* generic = reinterpret_cast<sockaddr*>(&address);
  if (!socket || ::bind(socket.get(), generic, size) != 0 || ::getsockname(socket.get(), generic, &size) != 0) {
    throw_errno("cannot find a free port on 127.0.0.1", errno);
  }
  return ntohs(address.sin_port);
}

}  // namespace distrun::base
