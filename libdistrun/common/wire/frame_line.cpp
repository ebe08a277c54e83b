#include <distrun/common/wire/frame_line.hpp>

#include <fcntl.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>

#include <distrun/common/base/error.hpp>

namespace distrun::wire {

std::optional<Frame> FrameLine::receive() {
  std::array<std::byte, 16 << 10> buffer;
  for (;;) {
    if (auto frame = splitter_.next()) return frame;
    const ssize_t got = ::recv(socket_.get(), buffer.data(), buffer.size(), 0);
    if (got > 0) {
      splitter_.feed(view_of(buffer.data(), static_cast<std::size_t>(got)));
    } else if (got == 0 || errno != EINTR) {
      return std::nullopt;
    }
  }
}

void FrameLine::send(const Bytes& packed) {
  const std::byte* at = packed.data();
  std::size_t left = packed.size();
  while (left > 0) {
    const ssize_t sent = ::send(socket_.get(), at, left, MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent < 0) throw Error(ErrorKind::Disconnected, "the coordinator is gone: " + base::errno_text(errno));
    at += sent;
    left -= static_cast<std::size_t>(sent);
  }
}

std::optional<base::Fd> take_helper_line() {
  int type = 0;
  socklen_t size = sizeof type;
  if (::getsockopt(kHelperLine, SOL_SOCKET, SO_TYPE, &type, &size) != 0) return std::nullopt;
  ::fcntl(kHelperLine, F_SETFD, FD_CLOEXEC);
  return base::Fd(kHelperLine);
}

}  // namespace distrun::wire
