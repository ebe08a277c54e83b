#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <linux/sock_diag.h>
#include <linux/unix_diag.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/time.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include <distrun/common/base/error.hpp>
#include <distrun/common/base/fd.hpp>
#include <distrun/common/base/text.hpp>
#include <distrun/runner/evidence/proc/sockets.hpp>

namespace distrun::evidence {
namespace {

constexpr std::size_t kUnixSocketsMax = 200'000;

struct Request {
  nlmsghdr header{};
  unix_diag_req body{};
};

// Sends the request. Empty, with errno set, if the kernel does not accept it.
base::Fd asked_kernel() {
  base::Fd line(::socket(AF_NETLINK, SOCK_DGRAM | SOCK_CLOEXEC, NETLINK_SOCK_DIAG));
  if (!line) return line;
  const timeval limit{1, 0};  // it answers at once or never
  ::setsockopt(line.get(), SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
  Request request;
  request.header.nlmsg_len = sizeof request;
  request.header.nlmsg_type = SOCK_DIAG_BY_FAMILY;
  request.header.nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP;
  request.body.sdiag_family = AF_UNIX;
  request.body.udiag_states = ~std::uint32_t{0};
  request.body.udiag_show = UDIAG_SHOW_NAME | UDIAG_SHOW_PEER | UDIAG_SHOW_ICONS | UDIAG_SHOW_RQLEN;
  if (::send(line.get(), &request, sizeof request, 0) != sizeof request) line.reset();
  return line;
}

// Reads a value at the start of bytes that need not be aligned; missing bytes are zeros.
template <class Value>
Value value_at(std::string_view bytes) {
  Value value{};
  std::memcpy(&value, bytes.data(), std::min(sizeof value, bytes.size()));
  return value;
}

// Removes a record of `size` bytes, and its padding to a multiple of four.
void drop(std::string_view& bytes, std::size_t size) {
  bytes.remove_prefix(std::min(bytes.size(), (size + 3) & ~std::size_t{3}));
}

void parse_attribute(std::uint16_t type, std::string_view value, Socket& socket, std::vector<Waiting>& waiting) {
  if (type == UNIX_DIAG_NAME) socket.name = unix_name(value);
  if (type == UNIX_DIAG_PEER) socket.peer = value_at<std::uint32_t>(value);
  if (type == UNIX_DIAG_RQLEN) {
    const auto lengths = value_at<unix_diag_rqlen>(value);
    socket.to_read = lengths.udiag_rqueue;
    if (socket.state != SocketState::Listening) socket.to_send = lengths.udiag_wqueue;
  }
  if (type != UNIX_DIAG_ICONS) return;
  for (; value.size() >= sizeof(std::uint32_t); value.remove_prefix(sizeof(std::uint32_t))) {
    const auto client = value_at<std::uint32_t>(value);
    if (client != 0) waiting.push_back({client, socket.inode});
  }
}

SocketState unix_state(std::uint8_t state) {
  constexpr std::uint8_t kEstablished = 1, kSynSent = 2, kListen = 10;  // the kernel uses TCP's numbers
  if (state == kListen) return SocketState::Listening;
  if (state == kSynSent) return SocketState::Connecting;
  return state == kEstablished ? SocketState::Connected : SocketState::Unconnected;
}

void parse_socket(std::string_view body, SocketTable& table, std::vector<Waiting>& waiting) {
  if (body.size() < sizeof(unix_diag_msg)) return;
  const auto message = value_at<unix_diag_msg>(body);
  Socket socket;
  socket.inode = message.udiag_ino;
  socket.state = unix_state(message.udiag_state);
  drop(body, sizeof message);
  while (body.size() >= sizeof(rtattr)) {
    const auto attribute = value_at<rtattr>(body);
    if (attribute.rta_len < sizeof attribute || attribute.rta_len > body.size()) break;
    parse_attribute(attribute.rta_type, body.substr(sizeof attribute, attribute.rta_len - sizeof attribute), socket,
                    waiting);
    drop(body, attribute.rta_len);
  }
  if (socket.inode != 0) table.sockets[socket.inode] = std::move(socket);
}

// A client's peer has no inode while the connection is not accepted, or after the peer was closed.
void resolve(SocketTable& table, const std::vector<Waiting>& waiting) {
  for (const Waiting& pair : waiting) {
    const auto client = table.sockets.find(pair.client);
    if (client == table.sockets.end() || client->second.peer != 0) continue;
    client->second.peer = pair.listener;
    client->second.unaccepted = true;
  }
  for (auto& [inode, socket] : table.sockets) {
    if (socket.state == SocketState::Connected && socket.peer == 0) socket.state = SocketState::PeerClosed;
    if (const Socket* peer = table.find(socket.peer)) socket.peer_name = peer->name;
  }
}

}  // namespace

std::string unix_name(std::string_view name) {
  if (name.empty()) return "";
  if (name[0] == '\0') return "@" + base::one_line(name.substr(1), 108);
  return base::one_line(name.substr(0, name.find('\0')), 108);
}

bool parse_unix_diag(std::string_view datagram, SocketTable& table, std::vector<Waiting>& waiting) {
  while (datagram.size() >= sizeof(nlmsghdr)) {
    const auto header = value_at<nlmsghdr>(datagram);
    if (header.nlmsg_type == NLMSG_DONE || header.nlmsg_len < sizeof header) return false;
    if (header.nlmsg_len > datagram.size()) return false;
    const std::string_view body = datagram.substr(sizeof header, header.nlmsg_len - sizeof header);
    if (header.nlmsg_type == NLMSG_ERROR) {
      const int error = -value_at<int>(body);
      table.notes.push_back("the kernel does not list unix sockets: " + base::errno_text(error));
      return false;
    }
    if (header.nlmsg_type == SOCK_DIAG_BY_FAMILY) parse_socket(body, table, waiting);
    drop(datagram, header.nlmsg_len);
  }
  return table.sockets.size() < kUnixSocketsMax;
}

void read_unix_sockets(SocketTable& table) {
  const base::Fd line = asked_kernel();
  std::vector<Waiting> waiting;
  std::string buffer(std::size_t{64} << 10, '\0');
  bool more = static_cast<bool>(line);
  if (!more) table.notes.push_back("the kernel does not list unix sockets: " + base::errno_text(errno));
  while (more) {
    const ssize_t got = ::recv(line.get(), buffer.data(), buffer.size(), 0);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) table.notes.push_back("the list of unix sockets is not complete: " + base::errno_text(errno));
    more = got > 0 && parse_unix_diag(std::string_view(buffer.data(), static_cast<std::size_t>(got)), table, waiting);
  }
  resolve(table, waiting);
}

}  // namespace distrun::evidence
