// Calls that wait for a partner: opening a named pipe, and connecting.
#include <sys/socket.h>
#include <sys/un.h>

#include <algorithm>
#include <cstddef>

#include <distrun/runner/evidence/proc/proc_files.hpp>
#include <distrun/runner/evidence/waits/decode_call.hpp>

namespace distrun::evidence {
namespace {

// Asking the file system about the path could block as the open does: a file server may not answer.
bool is_fifo(const Blocked& blocked) {
  const std::string task = proc_path(blocked.pid, "task/") + std::to_string(blocked.tid);
  return read_proc_file(task + "/wchan", 128).text == "wait_for_partner";
}

// Returns the address as the table of sockets has it; empty if it is no Unix address.
std::string unix_address(const RemoteMemory& memory, std::uint64_t address, std::uint64_t size) {
  constexpr std::size_t kPath = offsetof(sockaddr_un, sun_path);
  const auto family = memory.value<sa_family_t>(address);
  if (family != AF_UNIX || size <= kPath || size > sizeof(sockaddr_un)) return "";
  const std::vector<char> bytes = memory.values<char>(address + kPath, size - kPath);
  return unix_name({bytes.data(), bytes.size()});
}

// Returns the processes that hold the socket which listens there, as far as they were requested.
std::vector<pid_t> listeners_at(const Connections& all, const std::string& address) {
  std::vector<pid_t> pids;
  for (const Party& process : all.processes) {
    const auto& fds = process.descriptors.list;
    const bool listens = std::any_of(fds.begin(), fds.end(), [&](const Descriptor& descriptor) {
      const Socket* socket = descriptor.id.device == 0 ? all.sockets.find(descriptor.id.inode) : nullptr;
      return socket != nullptr && socket->state == SocketState::Listening && socket->name == address;
    });
    if (listens) pids.push_back(process.pid);
  }
  return pids;
}

// The table has the address of a TCP connection that is being made.
std::string target_of(const CallPlace& place, const Descriptor* descriptor) {
  const Socket* socket = descriptor == nullptr ? nullptr : place.all.sockets.find(descriptor->id.inode);
  if (socket != nullptr && !socket->peer_name.empty()) return socket->peer_name;
  return unix_address(place.memory, place.call.args[1], place.call.args[2]);
}

}  // namespace

void decode_open(const CallPlace& place, std::size_t path, Blocked& blocked) {
  blocked.kind = BlockKind::Other;
  const std::string name = place.memory.string(place.call.args[path]);
  blocked.call = std::string(place.info.name) + "(" + (name.empty() ? "?" : name) + ")";
  if (name.empty() || !is_fifo(blocked)) return;
  blocked.kind = BlockKind::Fifo;
  blocked.target = name;
}

void decode_connect(const CallPlace& place, Blocked& blocked) {
  const int fd = int_of(place.call.args[0]);
  blocked.kind = BlockKind::Descriptors;
  blocked.call = std::string(place.info.name) + "(" + std::to_string(fd) + ")";
  blocked.fds.push_back({fd, false, true});
  set_socket_limit(place.all.descriptor(blocked.pid, fd), true, blocked);
  blocked.target = target_of(place, place.all.descriptor(blocked.pid, fd));
  if (!blocked.target.empty()) blocked.pids = listeners_at(place.all, blocked.target);
}

}  // namespace distrun::evidence
