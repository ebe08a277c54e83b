#include <distrun/runner/run/named_locks.hpp>

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <set>

#include <distrun/common/base/error.hpp>
#include <distrun/common/base/rng.hpp>

namespace distrun::runner {
namespace {

// Names of any length: two that have the same hash exclude each other for no reason, which does no harm.
std::string socket_name(const std::string& lock, int place) {
  char name[64];
  const std::uint64_t hash = base::derive_seed(0, lock);
  std::snprintf(name, sizeof name, "distrun-lock-%u-%016llx", static_cast<unsigned>(::getuid()),
                static_cast<unsigned long long>(hash));
  return place == 0 ? name : std::string(name) + "-" + std::to_string(place);
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

NamedLocks::NamedLocks(const std::vector<LockLimit>& limits) {
  for (const LockLimit& limit : limits) limits_[limit.lock] = limit.tests;
}

int NamedLocks::limit_of(const std::string& lock) const {
  const auto found = limits_.find(lock);
  return found == limits_.end() ? 1 : found->second;
}

bool NamedLocks::take_one(const std::string& lock, Sockets& taken, bool& elsewhere) const {
  const int limit = limit_of(lock);
  for (int place = 0; place < limit; ++place) {
    const std::string socket = socket_name(lock, place);
    if (held_.contains(socket)) continue;
    if (taken.contains(socket)) return true;  // two of the names have the same hash, or are equal
    base::Fd fd = try_bind(socket);
    elsewhere = elsewhere || !fd;
    if (!fd) continue;
    taken.emplace(socket, std::move(fd));
    return true;
  }
  return false;
}

NamedLocks::Answer NamedLocks::try_take(const std::vector<std::string>& names) {
  Sockets taken;
  for (const std::string& name : names) {
    bool elsewhere = false;
    if (!take_one(name, taken, elsewhere)) return {false, elsewhere ? name : ""};
  }
  held_.merge(taken);
  return {true, ""};
}

// Which of a lock's places becomes free makes no difference. Names for which one was taken give one back.
void NamedLocks::release(const std::vector<std::string>& names) {
  std::set<std::string> released;
  for (const std::string& name : names) {
    if (!released.insert(socket_name(name, 0)).second) continue;
    for (int place = limit_of(name) - 1; place >= 0; --place) {
      if (held_.erase(socket_name(name, place)) > 0) break;
    }
  }
}

}  // namespace distrun::runner
