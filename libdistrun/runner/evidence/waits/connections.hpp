#pragma once
// What connects processes: pipes, Unix sockets and TCP connections, and who holds which end. One picture is taken of
// all processes asked for; of the others on this machine only who holds the ends that concern them.
#include <sys/types.h>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <distrun/runner/evidence/proc/descriptors.hpp>
#include <distrun/runner/evidence/proc/sockets.hpp>

namespace distrun::evidence {

struct End {
  pid_t pid = 0;
  int fd = -1;
  friend auto operator<=>(const End&, const End&) = default;
};

enum class ConnectionKind : std::uint8_t { Pipe, Unix, Tcp };

// One of the two ends of a connection, with everybody who holds it.
struct Side {
  std::uint64_t inode = 0;               // of a socket; 0: it was closed, or is on another machine
  std::string name;                      // its address; may be empty
  std::vector<End> ends;                 // ascending
  std::optional<std::uint64_t> to_read;  // bytes that wait to be read here, where the kernel tells
  std::uint64_t to_send = 0;             // bytes that were written here and not taken by the other side
};

// What is written at one side is read at the other. A pipe is read at the first and written at the second only; both
// of its sides have its own inode.
struct Connection {
  ConnectionKind kind = ConnectionKind::Pipe;
  FileId id;         // of a pipe, or of the first side's socket
  std::string path;  // of a pipe with a name
  Side sides[2];
  bool unaccepted = false;  // the second side is a listening socket: the connection waits to be accepted there
  bool remote = false;      // the other end is not on this machine
};
// "pipe 8812", "unix 9911 <-> 9912", "tcp 127.0.0.1:5000 <-> 127.0.0.1:41000".
std::string describe(const Connection& connection);

// A process with what it holds open.
struct Party {
  pid_t pid = 0;
  std::string name;
  Descriptors descriptors;
};

struct Connections {
  std::vector<Party> processes;         // asked for, ascending
  std::vector<Connection> list;         // all that have an end in one of these; in a fixed order
  std::map<pid_t, std::string> others;  // that hold other ends, by "4711 (command line)"
  SocketTable sockets;
  int hidden = 0;                  // processes of others whose descriptors could not be read
  std::vector<std::string> notes;  // what else could not be seen

  const Party* process(pid_t pid) const;
  // Null if it is not asked for, or has no such descriptor.
  const Descriptor* descriptor(pid_t pid, int fd) const;
  // Null if that is no end of a connection.
  const Connection* find(pid_t pid, int fd) const;
};

// "4711 (sleep 100)". Of a process that sleeps uninterruptibly only the name, since reading its command line might
// take as long as that.
std::string describe_other(pid_t pid);

// At most 1024 of `pids` are looked at, each once. Takes some milliseconds; /proc is read, nothing is stopped.
Connections find_connections(std::vector<pid_t> pids);

// Who else could end a wait of `pid` for `fd`: to read there, for data or its end, or else to write. Includes `pid`
// if it holds the other end itself. Ascending; empty if nobody was seen.
std::vector<pid_t> other_side(const Connections& all, pid_t pid, int fd, bool reads);

}  // namespace distrun::evidence
