#include <distrun/common/io/frame_socket.hpp>

#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <iterator>
#include <utility>

#include <distrun/common/base/error.hpp>
#include <distrun/common/wire/packet.hpp>

namespace distrun::io {
namespace {

constexpr std::size_t kReadSize = 64 << 10;
// Per turn of the loop, so that a rank that floods its socket cannot starve the others.
constexpr int kReadsPerTurn = 16;
// The kernel's maximum per message: none is lost, and exceeding the limit is noticed.
constexpr std::size_t kDescriptorsPerRead = 253;

}  // namespace

FrameSocket::FrameSocket(Loop& loop, base::Fd socket, const wire::Protocol& protocol, Handlers handlers)
    : FrameSocket(loop, std::move(socket), protocol, std::move(handlers), Limits{}) {}

FrameSocket::FrameSocket(Loop& loop, base::Fd socket, const wire::Protocol& protocol, Handlers handlers,
                         const Limits& limits)
    : handlers_(std::move(handlers)), limits_(limits), splitter_(protocol, limits.payload_max) {
  base::set_nonblocking(socket.get());
  watch_ = std::make_unique<FdWatch>(loop, std::move(socket), [this] { on_readable(); });
}

void FrameSocket::on_readable() {
  for (int i = 0; i < kReadsPerTurn && !closed_; ++i) {
    if (!may_read() || read_or_close() != ReadResult::Some) return;
  }
}

bool FrameSocket::may_read() {
  if (!handlers_.may_read || handlers_.may_read(splitter_.announced())) return true;
  watch_->pause();
  return false;
}

void FrameSocket::resume() {
  if (!closed_) watch_->resume();
}

void FrameSocket::drain() {
  while (!closed_ && read_or_close() == ReadResult::Some) {
  }
}

// Bytes that were read but not stored for lack of memory are lost, so the next frame's begin is unknown: closes.
FrameSocket::ReadResult FrameSocket::read_or_close() {
  try {
    return read_once();
  } catch (const std::bad_alloc&) {
    close("no memory");
    return ReadResult::End;
  }
}

// If the peer may not send descriptors, the kernel closes them.
ssize_t FrameSocket::receive(std::span<std::byte> buffer) {
  iovec part{buffer.data(), buffer.size()};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(kDescriptorsPerRead * sizeof(int))> control;
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  if (limits_.descriptors_max > 0) {
    message.msg_control = control.data();
    message.msg_controllen = control.size();
  }
  const ssize_t got = ::recvmsg(watch_->fd(), &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
  if (got <= 0 || limits_.descriptors_max == 0) return got;
  try {
    std::vector<base::Fd> came = wire::take_descriptors(message, kDescriptorsPerRead);
    descriptors_count_ += came.size();
    std::move(came.begin(), came.end(), std::back_inserter(descriptors_));
  } catch (const Error& lost) {
    descriptors_lost_ = lost;  // reported with the frame that they belong to
  }
  return got;
}

std::vector<base::Fd> FrameSocket::take_descriptors() {
  if (descriptors_lost_) throw Error(*descriptors_lost_);
  return std::exchange(descriptors_, {});
}

FrameSocket::ReadResult FrameSocket::read_once() {
  std::array<std::byte, kReadSize> buffer;
  const ssize_t got = receive(buffer);
  if (descriptors_count_ > limits_.descriptors_max) {
    close("more than " + std::to_string(limits_.descriptors_max) + " descriptors arrived");
    return ReadResult::End;
  }
  if (got > 0) {
    splitter_.feed(wire::view_of(buffer.data(), static_cast<std::size_t>(got)));
    deliver();
    // A short read emptied the socket; another read would only cost a call.
    return static_cast<std::size_t>(got) == buffer.size() ? ReadResult::Some : ReadResult::Nothing;
  }
  if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR)) return ReadResult::Nothing;
  // A peer that exits with unread data resets the connection: same as a close, once its data is read.
  close(got == 0 || errno == ECONNRESET ? "closed" : base::errno_text(errno));
  return ReadResult::End;
}

void FrameSocket::deliver() {
  try {
    while (auto frame = splitter_.next()) handlers_.on_frame(std::move(*frame));
  } catch (const Error& error) {
    close(error.what());
  }
}

void FrameSocket::close(std::string why) {
  if (std::exchange(closed_, true)) return;
  queue_.clear();
  queue_bytes_ = sent_of_first_ = 0;
  ::shutdown(watch_->fd(), SHUT_RDWR);
  watch_.reset();
  handlers_.on_closed(std::move(why));
}

void FrameSocket::send(wire::Bytes packed) {
  if (closed_) return;
  if (queue_bytes_ + packed.size() > limits_.queue_max) {
    throw Error(ErrorKind::Overloaded, "the peer does not read: " + std::to_string(queue_bytes_) +
                                           " bytes are queued for it, the limit is " +
                                           std::to_string(limits_.queue_max));
  }
  const std::size_t size = packed.size();
  queue_.push_back(std::move(packed));
  queue_bytes_ += size;
  if (!waiting_to_write_) write_some();
}

void FrameSocket::write_some() {
  waiting_to_write_ = false;
  while (!queue_.empty()) {
    const wire::Bytes& first = queue_.front();
    const ssize_t sent =
        ::send(watch_->fd(), first.data() + sent_of_first_, first.size() - sent_of_first_, MSG_DONTWAIT | MSG_NOSIGNAL);
    if (sent < 0) {
      if (errno == EINTR) continue;
      if (errno != EAGAIN && errno != EWOULDBLOCK) return;  // reading will report the reason
      waiting_to_write_ = true;
      watch_->when_writable([this] { write_more(); });
      return;
    }
    sent_of_first_ += static_cast<std::size_t>(sent);
    if (sent_of_first_ == first.size()) {
      queue_bytes_ -= first.size();
      sent_of_first_ = 0;
      queue_.pop_front();
    }
  }
}

void FrameSocket::write_more() {
  const std::size_t before = queued();
  write_some();
  if (handlers_.on_taken && queued() < before) handlers_.on_taken();
}

}  // namespace distrun::io
