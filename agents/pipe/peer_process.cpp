#include <agents/pipe/peer_process.hpp>

#include <unistd.h>

#include <agents/pipe/transports/address.hpp>
#include <distrun/common/base/if_memory.hpp>
#include <distrun/runtime/core/deaths.hpp>
#include <distrun/runtime/core/hosts.hpp>
#include <distrun/runtime/core/rank_state.hpp>

namespace distrun::agents::pipe {

int PeerProcess::known_pid() const noexcept {
  const int met = pid_.load();
  return met != 0 ? met : pid_in(address_);
}

int PeerProcess::rank() const noexcept {
  const int pid = known_pid();
  if (is_far(address_))
    return core::known_hosts().host_of(rank_in(address_)) == host_in(address_) ? rank_in(address_) : -1;
  return pid != 0 ? core::rank_of_peer(peer_.id(), pid) : core::rank_of_dead(peer_.id());
}

// A number of a process means something on its machine only: that is this one if they have met without TCP, or if the
// board says so, and it is on no other host.
bool PeerProcess::has_died() const noexcept {
  const int pid = known_pid();
  if (pid == 0 || pid == ::getpid() || is_far(address_)) return false;
  const bool is_here = has_met_here_.load() || core::rank_of_peer(peer_.id(), pid) >= 0;
  return is_here && core::is_ending(pid);
}

Error PeerProcess::gone(const std::string& why) const noexcept {
  if (is_far(address_)) was_cut_off_.store(true);
  return base::error_or_shortage(ErrorKind::Disconnected, [&]() -> Error {
    const int pid = known_pid();
    if (has_died()) {
      return {ErrorKind::Disconnected, peer_.name() + " is gone: its process " + std::to_string(pid) + " has ended"};
    }
    const bool is_known = pid != 0 && (pid != ::getpid() || is_far(address_));
    const std::string on = is_far(address_) ? " on " + std::string(host_in(address_)) : "";
    const std::string process = is_known ? " (process " + std::to_string(pid) + on + ")" : "";
    return {ErrorKind::Disconnected, peer_.name() + process + " is gone: " + why};
  });
}

Error PeerProcess::unreachable(const std::string& why) const noexcept {
  if (has_died()) return gone(why);
  if (is_far(address_)) was_cut_off_.store(true);
  return base::error_or_shortage(ErrorKind::Disconnected, [&] {
    const std::string process =
        is_far(address_) ? "; it is process " + std::to_string(known_pid()) + " on " + std::string(host_in(address_))
                         : "";
    return Error(ErrorKind::Disconnected, why + process);
  });
}

}  // namespace distrun::agents::pipe
