#include <distrun/runner/nodes/patient_socket.hpp>

#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>

#include <distrun/common/base/error.hpp>

namespace distrun::nodes {
namespace {

constexpr char kClosed[] = "it closed the connection during the handshake";

}  // namespace

int left_ms(base::TimePoint deadline) {
  const auto left = std::chrono::ceil<base::Milliseconds>(deadline - base::system_clock().now()).count();
  return static_cast<int>(std::clamp<std::int64_t>(left, 0, 1 << 30));
}

void throw_gave_up() {
  throw Error(ErrorKind::Cancelled, "the coordinator has ended: standard input, which it holds open, is at its end");
}

void PatientSocket::send(std::string_view bytes) const {
  const ssize_t count = ::send(socket_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
  if (count != static_cast<ssize_t>(bytes.size())) throw Error(ErrorKind::Disconnected, kClosed);
}

std::string PatientSocket::receive(std::size_t size) const {
  std::string bytes(size, '\0');
  for (std::size_t have = 0; have < size;) {
    const ssize_t count = ::recv(socket_.get(), bytes.data() + have, size - have, MSG_DONTWAIT);
    if (count > 0) {
      have += static_cast<std::size_t>(count);
    } else if (count < 0 && (errno == EAGAIN || errno == EINTR)) {
      wait_for_bytes();
    } else {
      throw Error(ErrorKind::Disconnected, kClosed);
    }
  }
  return bytes;
}

void PatientSocket::wait_for_bytes() const {
  pollfd entries[2]{{socket_.get(), POLLIN, 0}, {give_up_, POLLIN, 0}};
  const int ready = ::poll(entries, 2, left_ms(deadline_));
  if (ready == 0) throw Error(ErrorKind::Timeout, "it does not answer");
  if (ready > 0 && entries[0].revents == 0) throw_gave_up();
}

}  // namespace distrun::nodes
