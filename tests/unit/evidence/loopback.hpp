#pragma once
// A TCP connection over 127.0.0.1, at any free port.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <stdexcept>

#include <distrun/common/base/fd.hpp>

namespace distrun::testing {

struct Loopback {
  base::Fd listener{::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)};
  base::Fd client{::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)};
  base::Fd server;  // after accept

  Loopback() {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    auto* generic = reinterpret_cast<sockaddr*>(&address);
    const bool good = ::bind(listener.get(), generic, size) == 0 && ::listen(listener.get(), 5) == 0 &&
                      ::getsockname(listener.get(), generic, &size) == 0 && ::connect(client.get(), generic, size) == 0;
    if (!good) throw std::runtime_error("no connection over loopback");
  }
  void accept() { server.reset(::accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC)); }
};

}  // namespace distrun::testing
