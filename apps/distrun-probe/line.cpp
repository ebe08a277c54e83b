#include "line.hpp"

#include <sys/socket.h>

#include <array>
#include <cerrno>

#include <distrun/common/base/error.hpp>

namespace distrun::probe {

std::optional<wire::ProbeOrder> Line::receive_order() {
  wire::FrameSplitter splitter(wire::kProtocol<wire::ProbeFrame>);
  std::array<std::byte, 16 << 10> buffer;
  for (;;) {
    if (const auto frame = splitter.next()) {
      if (frame->is(wire::ProbeFrame::Order)) {
        return wire::decode<wire::ProbeOrder>(wire::view_of(frame->payload));
      }
      throw Error(ErrorKind::InvalidArgument, "the probe got a frame that is no order");
    }
    const ssize_t got = ::recv(socket_.get(), buffer.data(), buffer.size(), 0);
    if (got > 0) {
      splitter.feed(wire::view_of(buffer.data(), static_cast<std::size_t>(got)));
    } else if (got == 0 || errno != EINTR) {
      return std::nullopt;
    }
  }
}

void Line::send_bytes(const wire::Bytes& bytes) {
  const std::byte* at = bytes.data();
  std::size_t left = bytes.size();
  while (left > 0) {
    const ssize_t sent = ::send(socket_.get(), at, left, MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent < 0) throw Error(ErrorKind::Disconnected, "the coordinator is gone: " + base::errno_text(errno));
    at += sent;
    left -= static_cast<std::size_t>(sent);
  }
}

}  // namespace distrun::probe
