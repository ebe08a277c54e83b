#include <distrun/common/io/ask.hpp>

#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <array>
#include <cerrno>
#include <chrono>

#include <distrun/common/base/deadline.hpp>
#include <distrun/common/base/error.hpp>
#include <distrun/common/base/peer.hpp>

namespace distrun::io {
namespace {

using Clock = std::chrono::steady_clock;

int left_ms(Clock::time_point deadline) {
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now()).count();
  return left > 0 ? static_cast<int>(left) : 0;
}

void send_all(int socket, wire::BytesView bytes, Clock::time_point deadline, const std::string& who) {
  while (!bytes.empty()) {
    pollfd entry{socket, POLLOUT, 0};
    if (::poll(&entry, 1, left_ms(deadline)) == 0) throw Error(ErrorKind::Timeout, who + " does not accept a request");
    const ssize_t sent = ::send(socket, bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent > 0) bytes.remove_prefix(static_cast<std::size_t>(sent));
    if (sent < 0 && errno == EPIPE) return;  // it may have sent the reason before it closed
    if (sent < 0 && errno != EINTR && errno != EAGAIN) {
      throw Error(ErrorKind::Disconnected, who + " does not accept a request: " + base::errno_text(errno));
    }
  }
}

// Waits for incoming bytes.
std::size_t receive(int socket, std::array<std::byte, 64 << 10>& into, Clock::time_point deadline,
                    const std::string& who) {
  for (;;) {
    pollfd entry{socket, POLLIN, 0};
    const int ready = ::poll(&entry, 1, left_ms(deadline));
    if (ready == 0) throw Error(ErrorKind::Timeout, who + " does not answer");
    const ssize_t got = ready > 0 ? ::recv(socket, into.data(), into.size(), MSG_DONTWAIT) : -1;
    if (got > 0) return static_cast<std::size_t>(got);
    if (got == 0 || errno == ECONNRESET) throw Error(ErrorKind::Disconnected, who + " has ended");
    if (errno != EINTR && errno != EAGAIN) throw Error(ErrorKind::Disconnected, who + ": " + base::errno_text(errno));
  }
}

}  // namespace

base::Fd connect_to(const void* address, unsigned size, const std::string& who) {
  base::Fd socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!socket) base::throw_errno("cannot create a socket", errno);
  const Clock::time_point deadline = Clock::now() + kPatience;
  while (::connect(socket.get(), static_cast<const sockaddr*>(address), size) != 0) {
    if (errno == EINTR) continue;
    if (errno != EAGAIN) throw Error(ErrorKind::Disconnected, "cannot reach " + who + ": " + base::errno_text(errno));
    if (Clock::now() >= deadline) throw Error(ErrorKind::Timeout, who + " does not accept connections");
    ::poll(nullptr, 0, 10);  // there is no event for a free slot
  }
  if (!base::is_trusted_peer(socket.get())) throw Error(ErrorKind::Failed, who + " belongs to another user");
  base::set_nonblocking(socket.get(), false);
  return socket;
}

wire::Frame ask(int socket, const wire::Protocol& protocol, const wire::Bytes& question, const std::string& who,
                base::Nanoseconds patience) {
  const Clock::time_point deadline = base::deadline_after(patience);
  send_all(socket, wire::view_of(question), deadline, who);
  wire::FrameSplitter splitter(protocol);
  std::array<std::byte, 64 << 10> buffer;
  for (;;) {
    if (auto frame = splitter.next()) return std::move(*frame);
    const std::size_t got = receive(socket, buffer, deadline, who);
    splitter.feed(wire::view_of(buffer.data(), got));
  }
}

}  // namespace distrun::io
