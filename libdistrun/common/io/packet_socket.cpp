#include <distrun/common/io/packet_socket.hpp>

#include <utility>

#include <distrun/common/base/error.hpp>

namespace distrun::io {

PacketSocket::PacketSocket(Loop& loop, base::Fd socket, Handlers handlers) : handlers_(std::move(handlers)) {
  base::set_nonblocking(socket.get());
  watch_ = std::make_unique<FdWatch>(loop, std::move(socket), [this] { on_readable(); });
}

void PacketSocket::send(wire::BytesView bytes, std::span<const int> fds) {
  if (closed_) throw Error(ErrorKind::Disconnected, "the peer is gone");
  wire::send_packet(watch_->fd(), bytes, fds);
}

void PacketSocket::drain() {
  while (!closed_ && take_one()) {
  }
}

void PacketSocket::on_readable() { take_one(); }

// Returns false if there is no packet now, or the peer is gone.
bool PacketSocket::take_one() {
  std::optional<wire::Packet> packet;
  try {
    packet = wire::receive_packet(watch_->fd());
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::Timeout) return false;  // nothing there after all
  }
  if (packet) {
    handlers_.on_packet(std::move(*packet));
    return true;
  }
  closed_ = true;
  watch_.reset();
  handlers_.on_closed();
  return false;
}

}  // namespace distrun::io
