#include <distrun/runner/evidence/proc/sockets.hpp>

#include <unistd.h>

#include <set>

#include <distrun/runner/evidence/proc/proc_files.hpp>

namespace distrun::evidence {
namespace {

// "net:[4026531840]"; empty if it is hidden, in which case the process's descriptors are hidden, too.
std::string namespace_of(const std::string& process) {
  char link[64];
  const ssize_t size = ::readlink((process + "ns/net").c_str(), link, sizeof link);
  return size > 0 ? std::string(link, static_cast<std::size_t>(size)) : "";
}

}  // namespace

const Socket* SocketTable::find(std::uint64_t inode) const {
  const auto found = sockets.find(inode);
  return found == sockets.end() || inode == 0 ? nullptr : &found->second;
}

SocketTable read_sockets(const std::vector<pid_t>& pids, bool inet) {
  SocketTable table;
  read_unix_sockets(table);
  if (inet) read_inet_sockets("/proc/self/net", table);
  std::set<std::string> seen{"", namespace_of("/proc/self/")};
  for (const pid_t pid : pids) {
    if (!seen.insert(namespace_of(proc_path(pid, ""))).second) continue;
    if (inet) read_inet_sockets(proc_path(pid, "net"), table);
    table.notes.push_back("process " + std::to_string(pid) +
                          " is in another network namespace: the other ends of its unix sockets are unknown");
  }
  return table;
}

}  // namespace distrun::evidence
