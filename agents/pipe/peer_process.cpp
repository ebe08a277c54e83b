#include <agents/pipe/peer_process.hpp>

#include <unistd.h>

#include <agents/pipe/transports/address.hpp>
#include <distrun/common/base/if_memory.hpp>
#include <distrun/runtime/core/deaths.hpp>
#include <distrun/runtime/core/rank_state.hpp>

namespace distrun::agents::pipe {

int PeerProcess::known_pid() const noexcept {
  const int met = pid_.load();
  return met != 0 ? met : pid_in(address_);
}

int PeerProcess::rank() const noexcept {
  const int pid = known_pid();
  return pid != 0 ? core::rank_of_peer(peer_.id(), pid) : core::rank_of_dead(peer_.id());
}

// A number of a process means something on its machine only: that is this one if they have met without TCP, or if the
// board says so.
bool PeerProcess::has_died() const noexcept {
  const int pid = known_pid();
  if (pid == 0 || pid == ::getpid()) return false;
  const bool is_here = has_met_here_.load() || core::rank_of_peer(peer_.id(), pid) >= 0;
  return is_here && core::is_ending(pid);
}

Error PeerProcess::gone(const std::string& why) const noexcept {
  return base::error_or_shortage(ErrorKind::Disconnected, [&]() -> Error {
    const int pid = known_pid();
    if (has_died()) {
      return {ErrorKind::Disconnected, peer_.name() + " is gone: its process " + std::to_string(pid) + " has ended"};
    }
    const std::string process = pid == 0 || pid == ::getpid() ? "" : " (process " + std::to_string(pid) + ")";
    return {ErrorKind::Disconnected, peer_.name() + process + " is gone: " + why};
  });
}

Error PeerProcess::unreachable(const std::string& why) const noexcept {
  if (has_died()) return gone(why);
  return base::error_or_shortage(ErrorKind::Disconnected, [&] { return Error(ErrorKind::Disconnected, why); });
}

}  // namespace distrun::agents::pipe
