#include <distrun/runner/attempt/rank_messaging.hpp>

#include <utility>

#include <distrun/common/base/error.hpp>

namespace distrun::runner {
namespace {

constexpr std::size_t kWaitingMax = std::size_t{64} << 20;  // bytes, for a rank that has not begun

}  // namespace

RankMessaging::RankMessaging(int world_size, OnUnreachable on_unreachable)
    : on_unreachable_(std::move(on_unreachable)), lines_(static_cast<std::size_t>(world_size)), barriers_(world_size) {}

void RankMessaging::use(launch::World& world) {
  world_ = &world;
  const launch::Spread* const spread = world.spread();
  if (spread == nullptr) return;
  const base::RankHosts hosts(spread->host_of);
  barriers_.use(hosts);
  receives_.use(hosts);
}

void RankMessaging::begin(int rank, const wire::RunOrder& order) {
  Line& line = lines_[static_cast<std::size_t>(rank)];
  line.is_open = true;
  send(rank, wire::ControlFrame::Run, order);
  for (wire::Bytes& frame : std::exchange(line.waiting, {})) send_packed(rank, std::move(frame));
}

void RankMessaging::pass_on(int from, wire::RankMessage message) {
  if (message.to < 0 || message.to >= static_cast<int>(lines_.size())) {
    throw Error(ErrorKind::InvalidArgument, "a message to rank " + std::to_string(message.to));
  }
  message.from = from;
  post(message.to, wire::pack(wire::ControlFrame::Message, static_cast<std::uint16_t>(message.to), message));
}

void RankMessaging::enter_barrier(int rank, const std::string& barrier) {
  if (const auto open = barriers_.enter(rank, barrier)) release(*open);
}

void RankMessaging::wait_for_message(int rank, const wire::ReceiveWait& wait) {
  for (const int finished : receives_.wait(rank, wait, static_cast<int>(lines_.size()))) {
    send(rank, wire::ControlFrame::PeerFinished, wire::PeerFinished{finished});
  }
}

void RankMessaging::leave(int rank, bool declared) {
  for (const Release& each : barriers_.leave(rank, declared)) release(each);
  for (const int waiter : receives_.leave(rank)) {
    send(waiter, wire::ControlFrame::PeerFinished, wire::PeerFinished{rank});
  }
}

std::string RankMessaging::waiting_in(int rank) const {
  const std::string barrier = barriers_.waiting_in(rank);
  return barrier.empty() ? receives_.waiting_in(rank) : barrier;
}

void RankMessaging::drop_ended_waits(int rank, board::Shown& shown) const {
  std::erase_if(shown.waits, [&](const board::ShownWait& wait) {
    return wait.kind == board::WaitKind::Barrier && barriers_.has_passed(rank, wait.name);
  });
}

void RankMessaging::release(const Release& release) {
  const wire::BarrierRelease message{release.barrier, release.error, release.because_of};
  for (const int rank : release.ranks) send(rank, wire::ControlFrame::BarrierRelease, message);
}

// Queues frames for a rank that has no order yet, up to a limit. Throws Error{Overloaded} beyond it.
void RankMessaging::post(int rank, wire::Bytes packed) {
  ++sent_;
  Line& to = lines_[static_cast<std::size_t>(rank)];
  if (to.is_open) return world_->send(rank, std::move(packed));
  if (to.waiting_bytes + packed.size() > kWaitingMax) {
    throw Error(ErrorKind::Overloaded, "rank " + std::to_string(rank) + " has not begun, and " +
                                           std::to_string(to.waiting_bytes) + " bytes are already queued for it");
  }
  to.waiting_bytes += packed.size();
  to.waiting.push_back(std::move(packed));
}

void RankMessaging::send_packed(int rank, wire::Bytes packed) {
  try {
    post(rank, std::move(packed));
  } catch (const Error& error) {
    on_unreachable_(rank, error.what());
  }
}

}  // namespace distrun::runner
