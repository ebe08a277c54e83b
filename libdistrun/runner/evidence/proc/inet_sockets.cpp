#include <arpa/inet.h>

#include <cerrno>
#include <cstring>
#include <map>
#include <optional>
#include <utility>

#include <distrun/common/base/error.hpp>
#include <distrun/runner/evidence/proc/proc_files.hpp>
#include <distrun/runner/evidence/proc/sockets.hpp>

namespace distrun::evidence {
namespace {

constexpr std::size_t kTableMax = std::size_t{16} << 20;  // some 100 000 sockets

SocketState inet_state(std::uint8_t state, SocketKind kind) {
  switch (state) {
    case 1: return SocketState::Connected;
    case 2:
    case 3: return SocketState::Connecting;
    case 7: return SocketState::Unconnected;
    case 8: return SocketState::PeerClosed;
    case 10: return SocketState::Listening;
    default: return kind == SocketKind::Tcp ? SocketState::Closing : SocketState::Unconnected;
  }
}

// The kernel prints each group of four bytes as a number in this machine's byte order.
std::optional<std::string> shown_address(std::string_view hex) {
  unsigned char bytes[16]{};
  if (hex.size() != 8 && hex.size() != 32) return std::nullopt;
  for (std::size_t at = 0; at < hex.size(); at += 8) {
    const auto group = number_in<std::uint32_t>(hex.substr(at, 8), 16);
    if (!group) return std::nullopt;
    std::memcpy(bytes + at / 2, &*group, sizeof *group);
  }
  // One connection may be IPv4 at one end and IPv4-mapped IPv6 at the other: both are shown as the IPv4 address.
  static constexpr unsigned char kMapped[12] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
  const bool mapped = hex.size() == 32 && std::memcmp(bytes, kMapped, sizeof kMapped) == 0;
  const bool v4 = hex.size() == 8 || mapped;
  char text[INET6_ADDRSTRLEN]{};
  ::inet_ntop(v4 ? AF_INET : AF_INET6, mapped ? bytes + sizeof kMapped : bytes, text, sizeof text);
  return v4 ? std::string(text) : "[" + std::string(text) + "]";
}

// "0100007F:1F90" -> "127.0.0.1:8080"; empty if it cannot be parsed.
std::string shown_end(std::string_view word) {
  const std::size_t colon = word.find(':');
  if (colon == std::string_view::npos) return "";
  const auto address = shown_address(word.substr(0, colon));
  const auto port = number_in<std::uint16_t>(word.substr(colon + 1), 16);
  return address && port ? *address + ":" + std::to_string(*port) : "";
}

bool parse_queues(std::string_view word, Socket& socket) {
  const std::size_t colon = word.find(':');
  if (colon == std::string_view::npos) return false;
  const auto to_send = number_in<std::uint64_t>(word.substr(0, colon), 16);
  const auto to_read = number_in<std::uint64_t>(word.substr(colon + 1), 16);
  socket.to_send = to_send.value_or(0);
  socket.to_read = to_read.value_or(0);
  return to_send && to_read;
}

// "0: 0100007F:1F90 0100007F:A2C4 01 00000000:00000000 00:00000000 00000000 1000 0 12345 ..."
std::optional<Socket> parse_line(std::string_view line, SocketKind kind) {
  Words words(line);
  words.skip(1);
  Socket socket;
  socket.kind = kind;
  socket.name = shown_end(words.next());
  socket.peer_name = shown_end(words.next());
  const auto state = number_in<std::uint8_t>(words.next(), 16);
  const bool queues = parse_queues(words.next(), socket);
  words.skip(4);
  const auto inode = number_in<std::uint64_t>(words.next());
  if (socket.name.empty() || socket.peer_name.empty() || !state || !queues || !inode) return std::nullopt;
  socket.state = inet_state(*state, kind);
  socket.inode = *inode;
  return socket;
}

std::string port_of(const std::string& name) { return name.substr(name.rfind(':')); }

bool is_for_any_address(const std::string& name) { return name.starts_with("0.0.0.0:") || name.starts_with("[::]:"); }

using Ends = std::pair<std::string, std::string>;

std::string_view host_of(const std::string& name) { return std::string_view(name).substr(0, name.rfind(':')); }

// Returns whether the other end is on this machine for certain: the kernel connects an own address from that address.
bool is_to_this_machine(const Socket& socket) {
  const std::string_view to = host_of(socket.peer_name);
  return to == host_of(socket.name) || to.starts_with("127.") || to == "[::1]";
}

// A connected end without an inode waits to be accepted by the socket that listens at its address. A socket that
// connects to another machine has nothing to do with one that listens on this port of any address here.
std::uint64_t listener_at(const std::map<std::string, std::uint64_t>& listeners, const std::string& name,
                          bool is_here) {
  if (const auto found = listeners.find(name); found != listeners.end()) return found->second;
  if (!is_here) return 0;
  for (const char* const any : {"0.0.0.0", "[::]"}) {
    if (const auto found = listeners.find(any + port_of(name)); found != listeners.end()) return found->second;
  }
  return 0;
}

}  // namespace

std::vector<Socket> parse_inet_table(std::string_view text, SocketKind kind) {
  std::vector<Socket> sockets;
  for_each_line(text, [&](std::string_view line) {
    if (auto socket = parse_line(line, kind)) sockets.push_back(std::move(*socket));
  });
  return sockets;
}

void match_inet(std::vector<Socket>& sockets) {
  std::map<Ends, const Socket*> by_ends;
  std::map<std::string, std::uint64_t> listeners;
  for (const Socket& socket : sockets) {
    if (socket.state == SocketState::Listening)
      listeners[socket.name] = socket.inode;
    else
      by_ends[{socket.name, socket.peer_name}] = &socket;
  }
  for (Socket& socket : sockets) {
    if (socket.state == SocketState::Listening || is_for_any_address(socket.peer_name)) continue;
    const auto other = by_ends.find({socket.peer_name, socket.name});
    const bool held = other != by_ends.end() && other->second->inode != 0;
    if (held) socket.peer = other->second->inode;
    const bool nobodys = other != by_ends.end() && other->second->state == SocketState::Connected;
    if (held || !(nobodys || socket.state == SocketState::Connecting)) continue;
    socket.peer = listener_at(listeners, socket.peer_name, nobodys || is_to_this_machine(socket));
    socket.unaccepted = socket.peer != 0;
  }
}

void read_inet_sockets(const std::string& net, SocketTable& table) {
  for (const SocketKind kind : {SocketKind::Tcp, SocketKind::Udp}) {
    std::vector<Socket> sockets;
    for (const char* family : {"", "6"}) {
      const std::string path = net + (kind == SocketKind::Tcp ? "/tcp" : "/udp") + family;
      const ProcFile file = read_proc_file(path, kTableMax);
      // Without IPv6, its tables do not exist.
      if (file.error != 0 && file.error != ENOENT) table.notes.push_back(path + ": " + base::errno_text(file.error));
      if (file.cut) table.notes.push_back(path + " has more sockets than were read");
      std::vector<Socket> some = parse_inet_table(file.text, kind);
      sockets.insert(sockets.end(), std::make_move_iterator(some.begin()), std::make_move_iterator(some.end()));
    }
    match_inet(sockets);
    for (Socket& socket : sockets) {
      if (socket.inode != 0) table.sockets[socket.inode] = std::move(socket);
    }
  }
}

}  // namespace distrun::evidence
