#include <distrun/runner/nodes/world_store.hpp>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <utility>

#include <distrun/common/base/error.hpp>
#include <distrun/common/store_server/store_server.hpp>
#include <distrun/runner/proc/forked_helper.hpp>

namespace distrun::nodes {
namespace {

constexpr int kListening = 3, kLifeline = 4;  // descriptors of the server

std::uint16_t port_at(int socket) {
  sockaddr_storage address{};
  socklen_t size = sizeof address;
  ::getsockname(socket, reinterpret_cast<sockaddr*>(&address), &size);
  return ntohs(address.ss_family == AF_INET6 ? reinterpret_cast<sockaddr_in6&>(address).sin6_port
                                             : reinterpret_cast<sockaddr_in&>(address).sin_port);
}

std::string url_of(const std::string& address, std::uint16_t port) {
  const bool is_v6 = address.find(':') != std::string::npos;
  return "tcp://" + (is_v6 ? "[" + address + "]" : address) + ":" + std::to_string(port);
}

}  // namespace

WorldStore::WorldStore(io::Loop& loop, const std::string& address, std::string secret) : secret_(std::move(secret)) {
  base::Fd listening = stores::listen_for_store(address, 0);
  url_ = url_of(address, port_at(listening.get()));
  listener_ = std::make_unique<io::FdWatch>(loop, std::move(listening), [this] { begin_to_serve(); });
}

WorldStore::~WorldStore() {
  lifeline_.reset();
  if (server_ <= 0) return;
  ::kill(server_, SIGKILL);
  ::waitpid(server_, nullptr, 0);
}

// If there is no process for it, clients are refused, and say that their store is gone.
void WorldStore::begin_to_serve() {
  pollfd entry{listener_->fd(), POLLIN, 0};
  if (::poll(&entry, 1, 0) != 1) return;
  auto [reading, writing] = base::make_pipe();
  server_ = proc::fork_helper("distrun-store", {listener_->fd(), reading.get()},
                              [this] { stores::serve_store(base::Fd(kListening), secret_, base::Fd(kLifeline)); });
  if (server_ > 0) lifeline_ = std::move(writing);
  listener_.reset();
}

}  // namespace distrun::nodes
