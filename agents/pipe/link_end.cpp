// How links end, and what has become of their peers.
#include <unistd.h>

#include <utility>

#include <agents/pipe/link.hpp>
#include <agents/pipe/transports/address.hpp>
#include <distrun/common/base/error.hpp>
#include <distrun/common/base/if_memory.hpp>
#include <distrun/runtime/core/deaths.hpp>
#include <distrun/runtime/core/rank_state.hpp>

namespace distrun::agents::pipe {

int Link::known_pid() const noexcept {
  const int met = peer_pid_.load();
  return met != 0 ? met : pid_in(address_);
}

// A number of a process means something on its machine only: that is this one if they have met without TCP, or if the
// board says so.
bool Link::has_died() const noexcept {
  const int pid = known_pid();
  if (pid == 0 || pid == ::getpid()) return false;
  const bool is_here = has_met_here_.load() || core::rank_of_peer(peer_.id(), pid) >= 0;
  return is_here && core::is_ending(pid);
}

Error Link::gone(const std::string& why) const noexcept {
  return base::error_or_shortage(ErrorKind::Disconnected, [&]() -> Error {
    const int pid = known_pid();
    if (has_died()) {
      return {ErrorKind::Disconnected, peer_.name() + " is gone: its process " + std::to_string(pid) + " has ended"};
    }
    const std::string process = pid == 0 || pid == ::getpid() ? "" : " (process " + std::to_string(pid) + ")";
    return {ErrorKind::Disconnected, peer_.name() + process + " is gone: " + why};
  });
}

Error Link::unreachable(const std::string& why) const noexcept {
  if (has_died()) return gone(why);
  return base::error_or_shortage(ErrorKind::Disconnected, [&] { return Error(ErrorKind::Disconnected, why); });
}

void Link::give_up(const Error& why) noexcept {
  try {
    send_leave(why.text(), why.because_of());
    ring();
  } catch (const std::exception&) {  // the peer learns of the end, and not why
  }
  end(State::Lost, base::error_or_shortage(ErrorKind::Disconnected, [&] {
        return Error(ErrorKind::Disconnected, why.text()).with_cause(why.because_of());
      }));
}

namespace {

// For ranks that wait for this one, which may leave them because of that death.
void note_if_dead(int rank) noexcept {
  base::if_memory([&] {
    if (const auto death = core::death_of(rank)) core::rank_state().note_death(*death);
  });
}

}  // namespace

bool Link::end(State state, Error why) noexcept {
  const int pid = known_pid();
  const int its_rank = pid != 0 ? core::rank_of_peer(peer_.id(), pid) : core::rank_of_dead(peer_.id());
  why.with_cause(its_rank);
  {
    const std::lock_guard lock(writing_);
    if (why_) return end_locked(state, std::move(why));
  }
  // Before others learn of the end. The process of a peer that has left may end now, too: that is no death.
  if (state == State::Lost || why.because_of() != its_rank) note_if_dead(why.because_of());
  const std::lock_guard lock(writing_);
  return end_locked(state, std::move(why));
}

void Link::dismiss(const Error& why) noexcept {
  const std::lock_guard lock(writing_);
  is_end_told_ = true;
  end_locked(State::Left, base::error_or_shortage(ErrorKind::Disconnected, [&] { return why; }));
}

bool Link::end_locked(State state, Error why) noexcept {
  if (why_) {
    if (state == State::Lost) forget_kept();  // of one that has left before
    return false;
  }
  why_ = std::move(why);
  state_.store(state);
  queued_bytes_ = 0, queued_ = 0;
  has_queue_.store(false);
  if (state == State::Lost) forget_kept();
  return true;
}

std::optional<Error> Link::take_end() noexcept {
  const std::lock_guard lock(writing_);
  if (!why_ || std::exchange(is_end_told_, true)) return std::nullopt;
  return base::error_or_shortage(ErrorKind::Disconnected, [&] { return *why_; });
}

}  // namespace distrun::agents::pipe
