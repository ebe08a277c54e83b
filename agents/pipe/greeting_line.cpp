#include <agents/pipe/greeting_line.hpp>

#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <string>
#include <utility>

#include <distrun/common/base/error.hpp>
#include <distrun/common/wire/packet.hpp>

#include <agents/pipe/handshake.hpp>

namespace distrun::agents::pipe {
namespace {

constexpr std::size_t kLengthSize = sizeof(std::uint32_t);
constexpr std::size_t kControlSize = CMSG_SPACE(kDescriptorsMax * sizeof(int));

[[noreturn]] void lose(int number) {
  if (number == EPIPE || number == ECONNRESET) {
    throw Error(ErrorKind::Disconnected, "the peer closed the connection during the handshake");
  }
  throw Error(ErrorKind::Disconnected, "the connection broke during the handshake: " + base::errno_text(number));
}

}  // namespace

void GreetingLine::put(wire::Bytes frame, std::vector<int> fds) {
  if (fds.size() > kDescriptorsMax) {
    throw Error(ErrorKind::InvalidArgument, std::to_string(fds.size()) + " descriptors are too many for a greeting");
  }
  out_ = std::move(frame);
  sent_ = 0;
  out_fds_ = std::move(fds);
}

bool GreetingLine::flush() {
  while (sent_ < out_.size()) {
    const std::size_t count = send_some();
    if (count == 0) return false;
    sent_ += count;
  }
  return true;
}

// Returns 0 if there is no room.
std::size_t GreetingLine::send_some() {
  iovec part{out_.data() + sent_, out_.size() - sent_};
  alignas(cmsghdr) std::array<char, kControlSize> control{};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  if (sent_ == 0 && !out_fds_.empty()) {
    const std::size_t size = out_fds_.size() * sizeof(int);
    message.msg_control = control.data();
    message.msg_controllen = CMSG_SPACE(size);
    cmsghdr* header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(size);
    std::memcpy(CMSG_DATA(header), out_fds_.data(), size);
  }
  for (;;) {
    const ssize_t count = ::sendmsg(fd(), &message, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (count >= 0) return static_cast<std::size_t>(count);
    if (errno == EAGAIN) return 0;
    if (errno != EINTR) lose(errno);
  }
}

std::optional<wire::Bytes> GreetingLine::receive() {
  if (!fill(kLengthSize)) return std::nullopt;
  std::uint32_t length = 0;
  std::memcpy(&length, in_.data(), sizeof length);
  if (length == 0 || length > kGreetingMax) {
    throw Error(ErrorKind::InvalidArgument, "invalid greeting: its length is " + std::to_string(length) + " bytes");
  }
  if (!fill(kLengthSize + length)) return std::nullopt;
  wire::Bytes frame(in_.begin() + kLengthSize, in_.end());
  in_.clear();
  return frame;
}

// Returns whether `size` bytes are there.
bool GreetingLine::fill(std::size_t size) {
  while (in_.size() < size) {
    const std::size_t before = in_.size();
    in_.resize(size);
    iovec part{in_.data() + before, size - before};
    alignas(cmsghdr) std::array<char, kControlSize> control;
    msghdr message{};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    message.msg_control = control.data();
    message.msg_controllen = control.size();
    const ssize_t count = ::recvmsg(fd(), &message, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);
    const int number = errno;
    in_.resize(before + static_cast<std::size_t>(count > 0 ? count : 0));
    if (count == 0) lose(ECONNRESET);
    if (count < 0 && number == EAGAIN) return false;
    if (count < 0 && number != EINTR) lose(number);
    if (count < 0) continue;
    for (base::Fd& file : wire::take_descriptors(message, kDescriptorsMax)) files_.push_back(std::move(file));
    if (files_.size() > kDescriptorsMax) {
      throw Error(ErrorKind::InvalidArgument, "invalid greeting: it has too many descriptors");
    }
  }
  return true;
}

}  // namespace distrun::agents::pipe
