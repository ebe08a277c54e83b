#include <poll.h>
#include <agents/pipe/transports/listener.hpp>

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <netinet/tcp.h>

#include <algorithm>
#include <cerrno>
#include <memory>

#include <distrun/common/base/error.hpp>
#include <distrun/common/base/rng.hpp>

namespace distrun::agents::pipe {
namespace {

constexpr int kDialPatienceMs = 200;

constexpr int kBacklog = 4096;  // all workers of a large session may connect at once

base::Fd make_socket(int family) {
  base::Fd socket(::socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!socket) base::throw_errno("cannot create a socket", errno);
  return socket;
}

void send_at_once(int socket) noexcept {
  const int on = 1;
  ::setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

base::Fd listen_at(const Place& place) {
  const SocketAddress address = socket_address(place);
  base::Fd socket = make_socket(address.get()->sa_family);
  if (::bind(socket.get(), address.get(), address.size) != 0 || ::listen(socket.get(), kBacklog) != 0) {
    base::throw_errno("cannot listen at " + to_string(place), errno);
  }
  return socket;
}

std::uint16_t port_of(int socket) {
  SocketAddress address;
  address.size = sizeof address.bytes;
  if (::getsockname(socket, address.get(), &address.size) != 0) {
    base::throw_errno("cannot get the port of a socket", errno);
  }
  const bool is_v6 = address.get()->sa_family == AF_INET6;
  return ntohs(is_v6 ? reinterpret_cast<const sockaddr_in6*>(&address.bytes)->sin6_port
                     : reinterpret_cast<const sockaddr_in*>(&address.bytes)->sin_port);
}

bool is_shortage(int number) { return number == EMFILE || number == ENFILE || number == ENOMEM || number == ENOBUFS; }

std::string number_of(const sockaddr& address) {
  char text[INET6_ADDRSTRLEN] = "";
  if (address.sa_family == AF_INET) {
    ::inet_ntop(AF_INET, &reinterpret_cast<const sockaddr_in*>(&address)->sin_addr, text, sizeof text);
  } else {
    ::inet_ntop(AF_INET6, &reinterpret_cast<const sockaddr_in6*>(&address)->sin6_addr, text, sizeof text);
  }
  return text;
}

// Excludes link-local IPv6 addresses: they also need the interface's number.
bool is_usable(const sockaddr& address) {
  if (address.sa_family == AF_INET) return true;
  return address.sa_family == AF_INET6 &&
         !IN6_IS_ADDR_LINKLOCAL(&reinterpret_cast<const sockaddr_in6*>(&address)->sin6_addr);
}

}  // namespace

Listener::Listener(bool has_uds, const std::string& tcp_host) {
  if (has_uds) {
    Place place{SocketKind::Uds, "distrun-rpc-" + base::random_hex(32), 0};
    uds_ = listen_at(place);
    address_.push_back(std::move(place));
  }
  if (!tcp_host.empty()) {
    Place place{SocketKind::Tcp, tcp_host, 0};
    tcp_ = listen_at(place);
    place.port = port_of(tcp_.get());
    address_.push_back(std::move(place));
  }
}

base::Fd Listener::accept(SocketKind kind) const {
  for (;;) {
    base::Fd socket(::accept4(fd(kind), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (socket) {
      if (kind == SocketKind::Tcp) send_at_once(socket.get());
      return socket;
    }
    if (is_shortage(errno)) throw Error(ErrorKind::Overloaded, "cannot accept a worker: " + base::errno_text(errno));
    if (errno != EINTR && errno != ECONNABORTED) return {};
  }
}

void Listener::close() noexcept {
  uds_.reset();
  tcp_.reset();
}

Dialled dial(const Place& place) {
  const SocketAddress address = socket_address(place);
  Dialled dialled{make_socket(address.get()->sa_family), 0};
  if (place.kind == SocketKind::Tcp) send_at_once(dialled.socket.get());
  if (::connect(dialled.socket.get(), address.get(), address.size) != 0) dialled.error = errno;
  if (dialled.error == EINTR) dialled.error = EINPROGRESS;
  return dialled;
}

int dial_error(int socket) noexcept {
  int number = 0;
  socklen_t size = sizeof number;
  return ::getsockopt(socket, SOL_SOCKET, SO_ERROR, &number, &size) == 0 ? number : errno;
}

namespace {

bool is_deserted(const Place& place) {
  const Dialled dialled = dial(place);
  if (dialled.error != EINPROGRESS) return dialled.error == ECONNREFUSED;
  pollfd wanted{dialled.socket.get(), POLLOUT, 0};
  return ::poll(&wanted, 1, kDialPatienceMs) == 1 && dial_error(dialled.socket.get()) == ECONNREFUSED;
}

}  // namespace

bool is_deserted(const Address& address) {
  return !address.empty() &&
         std::all_of(address.begin(), address.end(), [](const Place& each) { return is_deserted(each); });
}

std::string host_of_interface(const std::string& name) {
  ifaddrs* found = nullptr;
  if (::getifaddrs(&found) != 0) base::throw_errno("cannot list the network's interfaces", errno);
  const std::unique_ptr<ifaddrs, void (*)(ifaddrs*)> list(found, ::freeifaddrs);
  for (const int family : {AF_INET, AF_INET6}) {
    for (const ifaddrs* each = found; each != nullptr; each = each->ifa_next) {
      const sockaddr* address = each->ifa_addr;
      if (name != each->ifa_name || address == nullptr || address->sa_family != family) continue;
      if (is_usable(*address)) return number_of(*address);
    }
  }
  throw Error(ErrorKind::InvalidArgument, "no network interface \"" + name + "\" with an address on this machine");
}

}  // namespace distrun::agents::pipe
