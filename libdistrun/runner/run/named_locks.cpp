#include <distrun/runner/run/named_locks.hpp>

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdio>

#include <distrun/common/base/error.hpp>
#include <distrun/common/base/rng.hpp>

namespace distrun::runner {
namespace {

// Names of any length: two that have the same hash exclude each other for no reason, which does no harm.
std::string socket_name(const std::string& lock) {
  char name[64];
  const std::uint64_t hash = base::derive_seed(0, lock);
  std::snprintf(name, sizeof name, "distrun-lock-%u-%016llx", static_cast<unsigned>(::getuid()),
                static_cast<unsigned long long>(hash));
  return name;
}

// Returns an invalid descriptor if another process has the name.
base::Fd try_bind(const std::string& name) {
  base::Fd fd(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  if (!fd) throw Error(ErrorKind::Failed, "cannot create a socket for a lock: " + base::errno_text(errno));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::copy(name.begin(), name.end(), address.sun_path + 1);  // the 0 before it makes it abstract
  const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
  if (::bind(fd.get(), reinterpret_cast<const sockaddr*>(&address), size) == 0) return fd;
  if (errno == EADDRINUSE) return {};
  throw Error(ErrorKind::Failed, "cannot bind a socket for a lock: " + base::errno_text(errno));
}

}  // namespace

NamedLocks::Answer NamedLocks::try_take(const std::vector<std::string>& names) {
  std::map<std::string, base::Fd> taken;
  for (const std::string& name : names) {
    const std::string socket = socket_name(name);
    if (held_.contains(socket)) return {};
    if (taken.contains(socket)) continue;
    base::Fd fd = try_bind(socket);
    if (!fd) return {false, name};
    taken.emplace(socket, std::move(fd));
  }
  held_.merge(taken);
  return {true, ""};
}

void NamedLocks::release(const std::vector<std::string>& names) {
  for (const std::string& name : names) held_.erase(socket_name(name));
}

}  // namespace distrun::runner
