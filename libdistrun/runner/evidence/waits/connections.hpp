#pragma once
// Finds the connections between processes: pipes, Unix sockets and TCP connections, and the holders of each end. Takes
// one snapshot of all requested processes; of other processes it records only their ends of these connections.
#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
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

// One end of a connection, with all descriptors that refer to it.
struct Side {
  std::uint64_t inode = 0;               // of a socket; 0: closed, or on another machine
  std::string name;                      // its address; may be empty
  std::vector<End> ends;                 // ascending
  std::optional<std::uint64_t> to_read;  // bytes waiting to be read here, if the kernel says
  std::uint64_t to_send = 0;             // bytes written here that the other side has not accepted
};

// Data written at one side is read at the other. A pipe is read only at the first side, written only at the second;
// both have its inode.
struct Connection {
  ConnectionKind kind = ConnectionKind::Pipe;
  FileId id;         // of a pipe, or of the first side's socket
  std::string path;  // of a named pipe
  Side sides[2];
  bool unaccepted = false;  // the second side is a listening socket that has not accepted the connection yet
  bool remote = false;      // the other end is not on this machine
};
// Returns "pipe 8812", "unix 9911 <-> 9912", "tcp 127.0.0.1:5000 <-> 127.0.0.1:41000".
std::string describe(const Connection& connection);

// A process and its open descriptors.
struct Party {
  pid_t pid = 0;
  std::string name;
  Descriptors descriptors;
};

struct Connections {
  std::vector<Party> processes;         // requested, ascending
  std::vector<Connection> list;         // all with an end in a requested process, in a fixed order
  std::map<pid_t, std::string> others;  // holders of other ends: "4711 (command line)"
  SocketTable sockets;
  int hidden = 0;                  // other processes with unreadable descriptors
  bool others_cut = false;         // not all other processes were searched
  bool hidden_heirs = false;       // a hidden one is younger than a requested one, and may have inherited an end
  std::vector<std::string> notes;  // what else could not be read

  // Positions in `list` by a pipe's or a socket's id. Only find_connections() fills it; without it, find() searches.
  std::map<std::pair<bool, FileId>, std::size_t> places;

  const Party* process(pid_t pid) const;
  // Returns null if the process was not requested, or has no such descriptor.
  const Descriptor* descriptor(pid_t pid, int fd) const;
  // Returns null if the descriptor is not an end of a connection.
  const Connection* find(pid_t pid, int fd) const;
};

// Returns "4711 (sleep 100)"; without arguments if it sleeps uninterruptibly, since reading them might block, too.
std::string describe_other(pid_t pid);

// Looks at the first 1024 of `pids`, each once. Takes some milliseconds; reads /proc and stops nothing. Searches other
// processes for at most `others_time`; if that is not enough, a note says so.
Connections find_connections(std::vector<pid_t> pids,
                             std::chrono::milliseconds others_time = std::chrono::milliseconds(500));

// Returns the processes that could end a wait of `pid` on `fd`: a wait to read (for data or end of file), or else to
// write. Includes `pid` if it holds the other end itself. Ascending; empty if none was found.
std::vector<pid_t> other_side(const Connections& all, pid_t pid, int fd, bool reads);

}  // namespace distrun::evidence
