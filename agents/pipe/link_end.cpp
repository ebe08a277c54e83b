// How links end.
#include <utility>

#include <agents/pipe/link.hpp>
#include <distrun/common/base/error.hpp>
#include <distrun/common/base/if_memory.hpp>
#include <distrun/runtime/core/deaths.hpp>
#include <distrun/runtime/core/rank_state.hpp>

namespace distrun::agents::pipe {

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

// Ranks that wait for this one then see the cause, even if this one leaves them because of that death.
void note_if_dead(int rank, const PeerProcess& peer) noexcept {
  base::if_memory([&] {
    if (const auto death = core::death_of(rank)) {
      core::rank_state().note_death(*death);
    } else if (rank >= 0 && rank == peer.rank() && peer.was_cut_off()) {
      core::rank_state().note_death({rank, peer.known_pid()});
    }
  });
}

}  // namespace

bool Link::end(State state, Error why) noexcept {
  const int its_rank = process_.rank();
  why.with_cause(its_rank);
  {
    const std::lock_guard lock(writing_);
    if (why_) return end_locked(state, std::move(why));
  }
  // Before others learn of the end. The process of a peer that has left may end now, too: that is no death.
  if (state == State::Lost || why.because_of() != its_rank) note_if_dead(why.because_of(), process_);
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
  queue_.stop();
  if (state == State::Lost) forget_kept();
  return true;
}

std::optional<Error> Link::take_end() noexcept {
  const std::lock_guard lock(writing_);
  if (!why_ || std::exchange(is_end_told_, true)) return std::nullopt;
  return base::error_or_shortage(ErrorKind::Disconnected, [&] { return *why_; });
}

}  // namespace distrun::agents::pipe
