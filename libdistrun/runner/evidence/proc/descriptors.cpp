#include <distrun/runner/evidence/proc/descriptors.hpp>

#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <algorithm>

#include <distrun/common/base/fd.hpp>
#include <distrun/runner/evidence/proc/proc_files.hpp>

namespace distrun::evidence {
namespace {

struct AnonymousName {
  std::string_view link;
  DescriptorKind kind;
};
constexpr AnonymousName kAnonymous[] = {
    {"anon_inode:[eventpoll]", DescriptorKind::Epoll}, {"anon_inode:[eventfd]", DescriptorKind::Eventfd},
    {"anon_inode:[timerfd]", DescriptorKind::Timerfd}, {"anon_inode:[signalfd]", DescriptorKind::Signalfd},
    {"anon_inode:[pidfd]", DescriptorKind::Pidfd},
};

// "pipe:[8812]" -> 8812, for prefix "pipe:[".
std::uint64_t bracketed(std::string_view link, std::string_view prefix) {
  if (!link.starts_with(prefix) || !link.ends_with(']')) return 0;
  link.remove_prefix(prefix.size());
  link.remove_suffix(1);
  return number_in<std::uint64_t>(link).value_or(0);
}

void parse_flags(std::string_view word, Descriptor& descriptor) {
  const auto flags = number_in<unsigned>(word, 8);
  if (!flags) return;
  const unsigned access = *flags & O_ACCMODE;
  const bool usable = (*flags & O_PATH) == 0;
  descriptor.reads = usable && access != O_WRONLY;
  descriptor.writes = usable && access != O_RDONLY;
  descriptor.nonblocking = (*flags & O_NONBLOCK) != 0;
}

// "tfd:        5 events:       19 data: ..."
void parse_watch(Words words, Descriptor& descriptor) {
  const auto fd = number_in<int>(words.next());
  words.skip(1);
  const auto events = number_in<unsigned>(words.next(), 16);
  if (!fd || !events || descriptor.watches.size() == kWatchesMax) return;
  descriptor.watches.push_back({*fd, (*events & (EPOLLIN | EPOLLRDHUP)) != 0, (*events & EPOLLOUT) != 0});
}

// "lock:\t1: FLOCK  ADVISORY  WRITE 4711 08:01:1234 0 EOF"
void parse_lock(Words words, Descriptor& descriptor) {
  words.skip(5);
  const std::string_view file = words.next();
  if (!file.empty()) descriptor.locks.emplace_back(file);
}

DescriptorKind socket_kind(const std::string& link) {
  char name[32];
  const ssize_t size = ::getxattr(link.c_str(), "system.sockprotoname", name, sizeof name);
  const std::string_view protocol(name, size > 0 ? static_cast<std::size_t>(size) : 0);
  if (protocol.starts_with("UNIX")) return DescriptorKind::UnixSocket;
  if (protocol.starts_with("TCP")) return DescriptorKind::Tcp;
  return protocol.starts_with("UDP") ? DescriptorKind::Udp : DescriptorKind::OtherSocket;
}

// Returns false if the descriptor was closed meanwhile.
bool read_descriptor(int links, int infos, pid_t pid, int fd, Descriptor& descriptor) {
  const std::string name = std::to_string(fd);
  char link[4096];
  const ssize_t size = ::readlinkat(links, name.c_str(), link, sizeof link);
  if (size < 0) return false;
  descriptor = parse_fd_link(fd, std::string_view(link, static_cast<std::size_t>(size)));
  const std::string place = proc_path(pid, "fd/") + name;
  if (descriptor.kind == DescriptorKind::OtherSocket) descriptor.kind = socket_kind(place);
  if (descriptor.kind == DescriptorKind::File) identify_file(place, descriptor);
  parse_fdinfo(read_proc_file(infos, name.c_str()).text, descriptor);
  return true;
}

}  // namespace

const char* name_of(DescriptorKind kind) {
  static constexpr const char* kNames[] = {"pipe",  "unix socket", "tcp socket", "udp socket", "socket",
                                           "file",  "directory",   "device",     "epoll",      "eventfd",
                                           "timer", "signalfd",    "pidfd",      "descriptor"};
  return kNames[static_cast<std::size_t>(kind)];
}

Descriptor parse_fd_link(int fd, std::string_view link) {
  Descriptor descriptor;
  descriptor.fd = fd;
  descriptor.path = link;
  if (const std::uint64_t pipe = bracketed(link, "pipe:["); pipe != 0) {
    descriptor.kind = DescriptorKind::Pipe;
    descriptor.id.inode = pipe;
  } else if (const std::uint64_t socket = bracketed(link, "socket:["); socket != 0) {
    descriptor.kind = DescriptorKind::OtherSocket;
    descriptor.id.inode = socket;
  } else if (link.starts_with('/')) {
    descriptor.kind = DescriptorKind::File;
  } else {
    const auto* known = std::find_if(std::begin(kAnonymous), std::end(kAnonymous),
                                     [&](const AnonymousName& name) { return link == name.link; });
    if (known != std::end(kAnonymous)) descriptor.kind = known->kind;
  }
  return descriptor;
}

void parse_fdinfo(std::string_view text, Descriptor& descriptor) {
  for_each_line(text, [&](std::string_view line) {
    Words words(line);
    const std::string_view key = words.next();
    if (key == "flags:")
      parse_flags(words.next(), descriptor);
    else if (key == "tfd:")
      parse_watch(words, descriptor);
    else if (key == "lock:")
      parse_lock(words, descriptor);
    else if (key == "Pid:")
      descriptor.process = number_in<pid_t>(words.next()).value_or(0);
  });
}

void identify_file(const std::string& link, Descriptor& descriptor) {
  struct statx status {};
  const int flags = AT_STATX_DONT_SYNC | AT_NO_AUTOMOUNT;
  if (::statx(AT_FDCWD, link.c_str(), flags, STATX_TYPE | STATX_INO, &status) != 0) return;
  descriptor.id = {makedev(status.stx_dev_major, status.stx_dev_minor), status.stx_ino};
  if (S_ISFIFO(status.stx_mode)) descriptor.kind = DescriptorKind::Pipe;
  if (S_ISDIR(status.stx_mode)) descriptor.kind = DescriptorKind::Directory;
  if (S_ISCHR(status.stx_mode) || S_ISBLK(status.stx_mode)) descriptor.kind = DescriptorKind::Device;
}

Descriptors descriptors_of(pid_t pid) {
  Descriptors found;
  found.pid = pid;
  const std::string place = proc_path(pid, "fd");
  const ProcNumbers fds = numbers_in(place, kDescriptorsMax);
  const int flags = O_PATH | O_DIRECTORY | O_CLOEXEC;
  const base::Fd links(::open(place.c_str(), flags));
  const base::Fd infos(::open(proc_path(pid, "fdinfo").c_str(), flags));
  if (fds.error != 0) found.why_none = why_hidden(fds.error);
  found.cut = fds.cut;
  for (const int fd : fds.numbers) {
    Descriptor descriptor;
    if (read_descriptor(links.get(), infos.get(), pid, fd, descriptor)) found.list.push_back(std::move(descriptor));
  }
  return found;
}

}  // namespace distrun::evidence
