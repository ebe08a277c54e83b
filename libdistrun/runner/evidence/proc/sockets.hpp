#pragma once
// Every Unix, TCP and UDP socket of a network namespace, and which belongs to which: Unix sockets as the kernel tells
// over netlink, the others from /proc/PID/net, where the two ends of a connection on this machine are matched by
// their addresses. Needs no privilege; tells nothing of who holds a socket.
#include <sys/types.h>

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace distrun::evidence {

enum class SocketKind : std::uint8_t { Unix, Tcp, Udp };

enum class SocketState : std::uint8_t {
  Unconnected,
  Listening,
  Connecting,  // asked, and not yet answered
  Connected,
  PeerClosed,  // the other end was closed, this one was not
  Closing,     // this end was closed or shut down
};

struct Socket {
  SocketKind kind = SocketKind::Unix;
  SocketState state = SocketState::Unconnected;
  std::uint64_t inode = 0;    // 0: no process has it yet, or any more
  std::uint64_t peer = 0;     // the inode of the other end; 0: there is none, or it is not on this machine
  bool unaccepted = false;    // `peer` is a listening socket whose owner has not accepted the connection
  std::uint64_t to_read = 0;  // bytes that came and were not read; listening: connections that wait to be accepted
  std::uint64_t to_send = 0;  // bytes written that the other side did not take
  std::string name;           // "127.0.0.1:5000", "/tmp/x.sock", "@abstract"; empty: none
  std::string peer_name;
};

struct SocketTable {
  std::map<std::uint64_t, Socket> sockets;  // by inode
  std::vector<std::string> notes;           // what could not be read, and why
  // Null if there is none of that inode.
  const Socket* find(std::uint64_t inode) const;
};

// Of this process's network namespace and of those of `pids`; Unix sockets of this process's only.
SocketTable read_sockets(const std::vector<pid_t>& pids);

// Unix sockets of this namespace. What goes wrong becomes a note.
void read_unix_sockets(SocketTable& table);
// A connection that its listener has not accepted: the client's other end has no inode yet.
struct Waiting {
  std::uint64_t client = 0;
  std::uint64_t listener = 0;
};
// One datagram of the kernel's answer; false when it was the last, or can't be followed any further. `waiting` gets
// what the listening sockets in it say of their queues.
bool parse_unix_diag(std::string_view datagram, SocketTable& table, std::vector<Waiting>& waiting);

// A text from /proc/net/{tcp,tcp6,udp,udp6}. Lines that are not understood are passed over.
std::vector<Socket> parse_inet_table(std::string_view text, SocketKind kind);
// Finds the other ends among the sockets of one namespace.
void match_inet(std::vector<Socket>& sockets);
// TCP and UDP sockets of the namespace that `net` shows, /proc/4711/net.
void read_inet_sockets(const std::string& net, SocketTable& table);

}  // namespace distrun::evidence
