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

// Where the kernel's struct tcp_info has tcpi_bytes_received, which the C library's does not have.
constexpr std::size_t kBytesReceivedAt = 128;

std::string address_text(const sockaddr_storage& address, socklen_t size) {
  std::array<char, NI_MAXHOST> text{};
  const int error = ::getnameinfo(reinterpret_cast<const sockaddr*>(&address), size, text.data(), text.size(), nullptr,
                                  0, NI_NUMERICHOST);
  return error == 0 ? text.data() : "unknown";
}

}  // namespace

std::optional<TcpState> tcp_state_of(int socket) noexcept {
  std::array<std::byte, 256> bytes{};
  socklen_t size = bytes.size();
  if (::getsockopt(socket, IPPROTO_TCP, TCP_INFO, bytes.data(), &size) != 0) return std::nullopt;
  if (size < kBytesReceivedAt + sizeof(std::uint64_t)) return std::nullopt;
  tcp_info info{};
  std::memcpy(&info, bytes.data(), std::min(sizeof info, bytes.size()));
  TcpState state;
  std::memcpy(&state.received, bytes.data() + kBytesReceivedAt, sizeof state.received);
  state.expects_answer = info.tcpi_unacked > 0;
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
