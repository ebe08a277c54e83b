#include <distrun/runner/nodes/tcp_state.hpp>

#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>

namespace distrun::nodes {
namespace {

// Where the kernel's struct tcp_info has fields that the C library's does not have.
constexpr std::size_t kBytesReceivedAt = 128;
constexpr std::size_t kNotSentAt = 144;     // bytes
constexpr std::size_t kSendWindowAt = 228;  // bytes; since Linux 5.4

using Info = std::array<std::byte, 256>;

template <class Number>
Number number_at(const Info& info, std::size_t at) {
  Number number;
  std::memcpy(&number, info.data() + at, sizeof number);
  return number;
}

std::string address_text(const sockaddr_storage& address, socklen_t size) {
  std::array<char, NI_MAXHOST> text{};
  const int error = ::getnameinfo(reinterpret_cast<const sockaddr*>(&address), size, text.data(), text.size(), nullptr,
                                  0, NI_NUMERICHOST);
  return error == 0 ? text.data() : "unknown";
}

}  // namespace

// If this host itself has lost the way, nothing is sent and nothing is unconfirmed: the data stays here, although the
// peer's window is open. A closed window is that of a process that does not read; its host lives.
std::optional<TcpState> tcp_state_of(int socket) noexcept {
  Info bytes{};
  socklen_t size = bytes.size();
  if (::getsockopt(socket, IPPROTO_TCP, TCP_INFO, bytes.data(), &size) != 0) return std::nullopt;
  if (size < kSendWindowAt + sizeof(std::uint32_t)) return std::nullopt;
  tcp_info info{};
  std::memcpy(&info, bytes.data(), std::min(sizeof info, bytes.size()));
  const bool is_held_here = number_at<std::uint32_t>(bytes, kNotSentAt) > 0 &&
                            number_at<std::uint32_t>(bytes, kSendWindowAt) >= info.tcpi_snd_mss;
  TcpState state;
  state.received = number_at<std::uint64_t>(bytes, kBytesReceivedAt);
  state.expects_answer = info.tcpi_unacked > 0 || is_held_here;
  state.since_heard = std::chrono::milliseconds(std::min(info.tcpi_last_data_recv, info.tcpi_last_ack_recv));
  return state;
}

std::string local_address_of(int socket) {
  sockaddr_storage address{};
  socklen_t size = sizeof address;
  if (::getsockname(socket, reinterpret_cast<sockaddr*>(&address), &size) != 0) return "unknown";
  return address_text(address, size);
}

std::string peer_address_of(int socket) {
  sockaddr_storage address{};
  socklen_t size = sizeof address;
  if (::getpeername(socket, reinterpret_cast<sockaddr*>(&address), &size) != 0) return "unknown";
  return address_text(address, size);
}

}  // namespace distrun::nodes
