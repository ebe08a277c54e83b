// What ranks have to say to each other: messages, barriers, and news of a failure.
#include <distrun/runner/attempt/attempt.hpp>

#include <utility>

#include <distrun/common/base/error.hpp>
#include <distrun/common/base/text.hpp>
#include <distrun/common/wire/frame.hpp>

namespace distrun::runner {
namespace {

constexpr std::size_t kHeldBackMax = std::size_t{64} << 20;  // bytes for a rank that has not begun

}  // namespace

void Attempt::on_message(int rank, wire::RankMessage message) {
  if (message.to < 0 || message.to >= static_cast<int>(ranks_.size())) {
    throw Error(ErrorKind::InvalidArgument, "a message to rank " + std::to_string(message.to));
  }
  message.from = rank;
  const int to = message.to;
  try {
    post(to, wire::pack(wire::FrameKind::Message, static_cast<std::uint16_t>(to), message));
  } catch (const Error& error) {
    RankError dropped;
    dropped.type = "Overloaded";
    dropped.text = "a message \"" + message.tag + "\" to rank " + std::to_string(to) + " was dropped: " + error.what();
    dropped.ended_body = false;
    add_error(at(rank), std::move(dropped));
  }
}

void Attempt::on_receive_wait(int rank, const wire::ReceiveWait& wait) {
  for (const int finished : receives_.wait(rank, wait, static_cast<int>(ranks_.size()))) {
    send(rank,
         wire::pack(wire::FrameKind::PeerFinished, static_cast<std::uint16_t>(rank), wire::PeerFinished{finished}));
  }
}

void Attempt::tell_peers(const RankState& failed) {
  if (test_.is_program()) return;  // they do not listen
  wire::PeerFailed news;
  news.rank = failed.record.rank;
  news.text = failed.record.errors.empty() ? describe(failed.record.outcome)
                                           : base::one_line(failed.record.errors.back().text);
  for (const RankState& rank : ranks_) {
    if (&rank == &failed || rank.ended || rank.done) continue;
    send(rank.record.rank, wire::pack(wire::FrameKind::PeerFailed, static_cast<std::uint16_t>(rank.record.rank), news));
  }
}

void Attempt::leave_desks(const RankState& rank) {
  // After a failure the news of it is what releases the others.
  if (state_ != State::Running) return;
  const int left = rank.record.rank;
  for (const Release& each : barriers_.leave(left, rank.record.declared_death)) release(each);
  for (const int waiter : receives_.leave(left)) {
    send(waiter,
         wire::pack(wire::FrameKind::PeerFinished, static_cast<std::uint16_t>(waiter), wire::PeerFinished{left}));
  }
}

std::string Attempt::waiting_in(int rank) const {
  const std::string barrier = barriers_.waiting_in(rank);
  return barrier.empty() ? receives_.waiting_in(rank) : barrier;
}

void Attempt::release(const Release& release) {
  wire::BarrierRelease message{release.barrier, release.error, release.because_of};
  for (const int rank : release.ranks) {
    send(rank, wire::pack(wire::FrameKind::BarrierRelease, static_cast<std::uint16_t>(rank), message));
  }
}

// Keeps what comes before the rank has its order, within a bound. Throws Error{Overloaded} beyond it.
void Attempt::post(int rank, wire::Bytes packed) {
  RankState& to = at(rank);
  if (to.ordered) return world_->send(rank, std::move(packed));
  if (to.held_back_bytes + packed.size() > kHeldBackMax) {
    throw Error(ErrorKind::Overloaded, "rank " + std::to_string(rank) + " has not begun, and " +
                                           std::to_string(to.held_back_bytes) + " bytes wait for it already");
  }
  to.held_back_bytes += packed.size();
  to.held_back.push_back(std::move(packed));
}

void Attempt::send(int rank, wire::Bytes packed) {
  try {
    post(rank, std::move(packed));
  } catch (const Error& error) {
    on_connection_lost(rank, error.what());  // a rank that does not read cannot be led
  }
}

}  // namespace distrun::runner
