#include <distrun/common/wire/packet.hpp>

#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <new>

#include <distrun/common/base/error.hpp>
#include <distrun/common/wire/zygote.hpp>

namespace distrun::wire {
namespace {

constexpr std::size_t kFdsMax = 253;  // the kernel's SCM_MAX_FD

// Returns why this process could not receive a descriptor. Call it while the received ones are still open.
int why_no_descriptor() noexcept {
  const base::Fd one_more(::eventfd(0, EFD_CLOEXEC));
  return one_more ? EMFILE : errno;  // another thread has closed some meanwhile
}

// The kernel drops descriptors that do not fit into the buffer, and those beyond this process's limit.
[[noreturn]] void refuse_cut(std::size_t came, std::size_t most) {
  if (came >= most) {
    throw Error(ErrorKind::InvalidArgument,
                "the peer has sent more than " + std::to_string(most) + " descriptors with a message");
  }
  throw Error(ErrorKind::Overloaded,
              "process " + std::to_string(::getpid()) +
                  " cannot receive its peer's descriptors: " + base::errno_text(why_no_descriptor()));
}

template <class Take>
void each_descriptor(msghdr& message, Take take) {
  for (cmsghdr* part = CMSG_FIRSTHDR(&message); part != nullptr; part = CMSG_NXTHDR(&message, part)) {
    if (part->cmsg_level != SOL_SOCKET || part->cmsg_type != SCM_RIGHTS) continue;
    const std::size_t count = (part->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (std::size_t i = 0; i < count; ++i) {
      int fd = -1;
      std::memcpy(&fd, CMSG_DATA(part) + i * sizeof(int), sizeof fd);
      take(fd);
    }
  }
}

}  // namespace

std::vector<base::Fd> take_descriptors(msghdr& message, std::size_t most) {
  std::size_t count = 0;
  each_descriptor(message, [&](int) { ++count; });
  std::vector<base::Fd> fds;
  try {
    fds.reserve(count);
  } catch (const std::bad_alloc&) {
    each_descriptor(message, [](int fd) { const base::Fd closed(fd); });  // they have no owner yet
    throw;
  }
  each_descriptor(message, [&](int fd) { fds.emplace_back(fd); });
  if ((message.msg_flags & MSG_CTRUNC) != 0) refuse_cut(fds.size(), most);
  return fds;
}

void send_packet(int socket, BytesView bytes, std::span<const int> fds) {
  if (bytes.size() > kPacketSizeMax || fds.size() > kFdsMax) {
    throw Error(ErrorKind::Overloaded, "a packet of " + std::to_string(bytes.size()) + " bytes and " +
                                           std::to_string(fds.size()) + " descriptors is over the limit of " +
                                           std::to_string(kPacketSizeMax) + " and 253");
  }
  iovec part{const_cast<std::byte*>(bytes.data()), bytes.size()};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(kFdsMax * sizeof(int))> control;
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  if (!fds.empty()) {
    message.msg_control = control.data();
    message.msg_controllen = CMSG_SPACE(fds.size_bytes());
    cmsghdr* header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(fds.size_bytes());
    std::memcpy(CMSG_DATA(header), fds.data(), fds.size_bytes());
  }
  while (::sendmsg(socket, &message, MSG_NOSIGNAL) < 0) {
    if (errno == EINTR) continue;
    if (errno == EAGAIN) throw Error(ErrorKind::Overloaded, "the peer does not read its packets");
    throw Error(ErrorKind::Disconnected, "cannot send a packet: " + base::errno_text(errno));
  }
}

std::optional<Packet> receive_packet(int socket) {
  Packet packet;
  packet.bytes.resize(kPacketSizeMax);
  iovec part{packet.bytes.data(), packet.bytes.size()};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(kFdsMax * sizeof(int))> control;
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control.data();
  message.msg_controllen = control.size();
  for (;;) {
    const ssize_t got = ::recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
    if (got > 0) {
      packet.bytes.resize(static_cast<std::size_t>(got));
      packet.fds = take_descriptors(message, kFdsMax);
      return packet;
    }
    if (got == 0) return std::nullopt;
    if (errno == EINTR) continue;
    if (errno == EAGAIN) throw Error(ErrorKind::Timeout, "no packet has arrived");
    if (errno == ECONNRESET) return std::nullopt;
    base::throw_errno("cannot receive a packet", errno);
  }
}

}  // namespace distrun::wire
