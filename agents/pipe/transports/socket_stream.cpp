#include <agents/pipe/transports/socket_stream.hpp>

#include <limits.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include <distrun/common/base/check.hpp>
#include <distrun/common/base/error.hpp>

namespace distrun::agents::pipe {
namespace {

constexpr std::size_t kBufferSize = std::size_t{256} * 1024;

[[noreturn]] void lose_socket(int number) {
  if (number == EPIPE || number == ECONNRESET) {
    throw Error(ErrorKind::Disconnected, "the peer closed the connection");
  }
  throw Error(ErrorKind::Disconnected, "the connection broke: " + base::errno_text(number));
}

}  // namespace

SocketStream::SocketStream(base::Fd socket) : socket_(std::move(socket)), buffer_(kBufferSize) {}

std::size_t SocketStream::write(std::span<const iovec> parts) {
  msghdr message{};
  message.msg_iov = const_cast<iovec*>(parts.data());
  message.msg_iovlen = std::min<std::size_t>(parts.size(), IOV_MAX);
  for (;;) {
    const ssize_t count = ::sendmsg(fd(), &message, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (count >= 0) return static_cast<std::size_t>(count);
    if (errno == EAGAIN) return 0;
    if (errno != EINTR) lose_socket(errno);
  }
}

std::span<const std::byte> SocketStream::look() {
  if (begin_ == end_) begin_ = end_ = 0;
  if (end_ == buffer_.size() && begin_ > 0) {
    std::memmove(buffer_.data(), buffer_.data() + begin_, left());
    end_ -= begin_;
    begin_ = 0;
  }
  if (end_ < buffer_.size()) end_ += receive(buffer_.data() + end_, buffer_.size() - end_);
  return {buffer_.data() + begin_, left()};
}

std::size_t SocketStream::look_max() const noexcept { return buffer_.size(); }

void SocketStream::consume(std::size_t bytes) noexcept {
  DISTRUN_ASSERT(bytes <= left());
  begin_ += bytes;
}

std::size_t SocketStream::read_into(std::byte* to, std::size_t bytes) {
  const std::size_t kept = std::min(bytes, left());
  if (kept > 0) std::memcpy(to, buffer_.data() + begin_, kept);
  const std::size_t direct = kept < bytes ? receive(to + kept, bytes - kept) : 0;
  begin_ += kept;
  return kept + direct;
}

// Bytes written before are still delivered to the peer.
void SocketStream::leave() noexcept { ::shutdown(fd(), SHUT_RDWR); }

// Returns 0 if nothing is there now, or if the stream has ended and buffered bytes are to be read first.
std::size_t SocketStream::receive(std::byte* to, std::size_t bytes) {
  for (;;) {
    const ssize_t count = ::recv(fd(), to, bytes, MSG_DONTWAIT);
    if (count > 0) return static_cast<std::size_t>(count);
    if (count < 0 && errno == EAGAIN) return 0;
    if (count < 0 && errno == EINTR) continue;
    if (left() > 0) return 0;
    lose_socket(count == 0 ? ECONNRESET : errno);
  }
}

}  // namespace distrun::agents::pipe
