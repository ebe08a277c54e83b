#include <distrun/runner/nodes/world_store.hpp>

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <exception>
#include <utility>

#include <distrun/common/base/error.hpp>
#include <distrun/common/store_server/store_server.hpp>

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

// The server has copies of everything that the coordinator has open: a rank's socket would seem to live on.
bool keep_only(int listening, int lifeline) {
  const int high = ::fcntl(lifeline, F_DUPFD, kLifeline + 1);
  if (high < 0 || ::dup2(listening, kListening) < 0 || ::dup2(high, kLifeline) < 0) return false;
  return ::close_range(kLifeline + 1, ~0U, 0) == 0;
}

[[noreturn]] void serve(int listening, int lifeline, const std::string& secret) noexcept {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  ::prctl(PR_SET_NAME, "distrun-store");
  ::setsid();  // the terminal's signals are for the coordinator
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGCHLD}) ::signal(signal, SIG_DFL);
  try {
    if (keep_only(listening, lifeline)) stores::serve_store(base::Fd(kListening), secret, base::Fd(kLifeline));
  } catch (const std::exception&) {
    // Its clients see the end of their connections.
  }
  ::_exit(0);
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
  server_ = ::fork();
  if (server_ == 0) serve(listener_->fd(), reading.get(), secret_);
  if (server_ > 0) lifeline_ = std::move(writing);
  listener_.reset();
}

}  // namespace distrun::nodes
