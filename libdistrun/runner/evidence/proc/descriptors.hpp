#pragma once
// Lists the descriptors of a process, from /proc/PID/fd and fdinfo. Nothing is opened: opening a pipe of another
// process would make this one a reader or writer of it, and so change what is observed.
#include <sys/types.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace distrun::evidence {

enum class DescriptorKind : std::uint8_t {
  Pipe,  // with or without a name
  UnixSocket,
  Tcp,
  Udp,
  OtherSocket,
  File,
  Directory,
  Device,
  Epoll,
  Eventfd,
  Timerfd,
  Signalfd,
  Pidfd,
  Other,
};
// Returns "pipe", "unix socket", ...
const char* name_of(DescriptorKind kind);

// Identifies a pipe, a socket or a file on this machine.
struct FileId {
  std::uint64_t device = 0;  // 0: a pipe without a name, or a socket
  std::uint64_t inode = 0;
  friend auto operator<=>(const FileId&, const FileId&) = default;
};

// A descriptor watched by an epoll descriptor.
struct Watch {
  int fd = -1;  // its number when it was added
  bool reads = false;
  bool writes = false;
  friend bool operator==(const Watch&, const Watch&) = default;
};

struct Descriptor {
  int fd = -1;
  DescriptorKind kind = DescriptorKind::Other;
  FileId id;
  bool reads = false;
  bool writes = false;
  bool nonblocking = false;
  std::string path;                // of a file or named pipe; otherwise the kernel's name
  std::vector<Watch> watches;      // Epoll
  pid_t process = 0;               // Pidfd: the process it refers to; -1: it has ended
  std::vector<std::string> locks;  // locks held through it, by file name in /proc/locks: "08:01:1234"
};

struct Descriptors {
  pid_t pid = 0;
  std::vector<Descriptor> list;  // by fd
  bool cut = false;              // the process has more than kDescriptorsMax
  std::string why_none;          // why the list is empty; empty: the descriptors could be read
};

inline constexpr std::size_t kDescriptorsMax = 4096;  // per process
inline constexpr std::size_t kWatchesMax = 1024;      // per epoll descriptor

Descriptors descriptors_of(pid_t pid);

// Parses the target of a link in /proc/PID/fd: "pipe:[8812]", "anon_inode:[eventpoll]", "/tmp/x". Every path is a File
// until identify_file(), every socket an OtherSocket.
Descriptor parse_fd_link(int fd, std::string_view link);
// Adds the contents of a /proc/PID/fdinfo file. Lines that cannot be parsed are skipped.
void parse_fdinfo(std::string_view text, Descriptor& descriptor);
// Fills in kind and id of the open file behind `link` (/proc/PID/fd/5). Queries no file server.
void identify_file(const std::string& link, Descriptor& descriptor);

}  // namespace distrun::evidence
