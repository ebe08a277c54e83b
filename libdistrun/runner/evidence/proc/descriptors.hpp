#pragma once
// What the descriptors of a process are, from /proc/PID/fd and fdinfo. Nothing is opened: opening another's pipe
// would make us one of its readers or writers, and so change what we look at.
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
// "pipe", "unix socket", ...
const char* name_of(DescriptorKind kind);

// Names a pipe, a socket or a file on this machine.
struct FileId {
  std::uint64_t device = 0;  // 0: a pipe without a name, or a socket
  std::uint64_t inode = 0;
  friend auto operator<=>(const FileId&, const FileId&) = default;
};

// What an epoll descriptor watches.
struct Watch {
  int fd = -1;  // as it was called when it was added
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
  std::string path;                // of a file or a pipe with a name; of others what the kernel calls them
  std::vector<Watch> watches;      // Epoll
  pid_t process = 0;               // Pidfd: for which it stands; -1: it has ended
  std::vector<std::string> locks;  // that are held through it, by the file's name in /proc/locks: "08:01:1234"
};

struct Descriptors {
  pid_t pid = 0;
  std::vector<Descriptor> list;  // by fd
  bool cut = false;              // it has more than kDescriptorsMax
  std::string why_none;          // why there are none; empty: they could be read
};

inline constexpr std::size_t kDescriptorsMax = 4096;  // of one process
inline constexpr std::size_t kWatchesMax = 1024;      // of one epoll descriptor

Descriptors descriptors_of(pid_t pid);

// What a link in /proc/PID/fd says: "pipe:[8812]", "anon_inode:[eventpoll]", "/tmp/x". A file is called a File until
// it was asked what kind it is, and a socket an OtherSocket.
Descriptor parse_fd_link(int fd, std::string_view link);
// Adds what a text from /proc/PID/fdinfo says. Lines that are not understood are passed over.
void parse_fdinfo(std::string_view text, Descriptor& descriptor);
// For a file, asks what kind it is and which, of the open file behind `link` (/proc/PID/fd/5). No file system is
// asked that would have to ask a server.
void identify_file(const std::string& link, Descriptor& descriptor);

}  // namespace distrun::evidence
