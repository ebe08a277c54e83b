#pragma once
// Lists the Unix, TCP and UDP sockets of a network namespace and pairs the two ends of each connection. Unix sockets
// come from the kernel over netlink, the others from /proc/PID/net, where both ends of a local connection are matched
// by address. Needs no privilege; does not say which process holds a socket.
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
  Connecting,  // requested, not yet answered
  Connected,
  PeerClosed,  // the other end is closed, this one is not
  Closing,     // this end is closed or shut down
};

struct Socket {
  SocketKind kind = SocketKind::Unix;
  SocketState state = SocketState::Unconnected;
  std::uint64_t inode = 0;    // 0: no process has it yet, or any longer
  std::uint64_t peer = 0;     // inode of the other end; 0: not on this machine, or missing
  bool unaccepted = false;    // `peer` is a listening socket and has not accepted the connection
  std::uint64_t to_read = 0;  // bytes received and not read; listening: connections waiting to be accepted
  std::uint64_t to_send = 0;  // bytes written that the other side has not accepted
  std::string name;           // "127.0.0.1:5000", "/tmp/x.sock", "@abstract"; empty: none
  std::string peer_name;
};

struct SocketTable {
  std::map<std::uint64_t, Socket> sockets;  // by inode
  std::vector<std::string> notes;           // what could not be read, and why
  // Returns null if no socket has that inode.
  const Socket* find(std::uint64_t inode) const;
};

// Reads the network namespaces of this process and of `pids`; Unix sockets of this process's namespace only. Without
// `inet`, no TCP and UDP sockets: the kernel searches a table that is large on a large machine, which takes 10 to 20
// ms.
SocketTable read_sockets(const std::vector<pid_t>& pids, bool inet = true);

// Returns the name that the table has for an address's sun_path, as far as its length says: "/tmp/x.sock", "@abstract".
std::string unix_name(std::string_view sun_path);
// Reads the Unix sockets of this namespace. Errors become notes.
void read_unix_sockets(SocketTable& table);
// A connection that its listener has not accepted: the end opposite the client has no inode yet.
struct Waiting {
  std::uint64_t client = 0;
  std::uint64_t listener = 0;
};
// Parses one datagram of the kernel's answer. Returns false after the last one, or if the answer cannot be parsed
// further. Appends the queues of listening sockets to `waiting`.
bool parse_unix_diag(std::string_view datagram, SocketTable& table, std::vector<Waiting>& waiting);

// Parses the contents of /proc/net/{tcp,tcp6,udp,udp6}. Lines that cannot be parsed are skipped.
std::vector<Socket> parse_inet_table(std::string_view text, SocketKind kind);
// Finds the peers among the sockets of one namespace.
void match_inet(std::vector<Socket>& sockets);
// Reads the TCP and UDP sockets of the namespace shown by `net`, such as /proc/4711/net.
void read_inet_sockets(const std::string& net, SocketTable& table);

}  // namespace distrun::evidence
