#include <distrun/plugin/rank/seat.hpp>

#include <algorithm>
#include <cstddef>
#include <optional>
#include <vector>

#include <distrun/common/board/slot_reader.hpp>
#include <distrun/plugin/rank/plugin.hpp>
#include <distrun/plugin/rank/traced_wait.hpp>

namespace distrun::rank {
namespace {

using base::Nanoseconds;
using base::TimePoint;

Seat& seat_of(void* waits) { return *static_cast<Seat*>(waits); }

board::PeerSet peers_of(const distrun_wait& wait) {
  board::PeerSet peers;
  std::copy_n(wait.peers, std::min(wait.peer_words, peers.bits.size()), peers.bits.begin());
  return peers;
}

static_assert(board::peer_rule(DISTRUN_PEERS_ALL) == board::PeerRule::All &&
              board::peer_rule(DISTRUN_PEERS_ANY) == board::PeerRule::Any);

std::int32_t wait_begin(void* waits, std::int32_t kind, distrun_string name, const char* file, std::uint32_t line) {
  board::WaitInfo info;
  info.kind = board::wait_kind(kind);
  info.name = {name.data, name.size};
  info.site = {file != nullptr ? file : "", line};
  return seat_of(waits).begin_wait(info, TimePoint::max());
}

std::int32_t wait_begin_for(void* waits, const distrun_wait* wait) {
  board::WaitInfo info;
  info.kind = board::wait_kind(wait->kind);
  info.name = {wait->name.data, wait->name.size};
  info.rule = board::peer_rule(wait->peer_rule);
  if (wait->peers != nullptr) info.peers = peers_of(*wait);
  info.id = wait->id;
  info.site = {wait->file != nullptr ? wait->file : "", wait->line};
  const TimePoint deadline = wait->deadline_ns == 0 ? TimePoint::max() : TimePoint(Nanoseconds(wait->deadline_ns));
  return seat_of(waits).begin_wait(info, deadline);
}

void wait_end(void* waits, std::int32_t number) { seat_of(waits).end_wait(number); }

void did(void* waits, const distrun_operation* operation) {
  seat_of(waits).writer.note(board::wait_kind(operation->kind), {operation->name.data, operation->name.size},
                             operation->peer, operation->id);
}

void progress(void* waits) { seat_of(waits).writer.progress(); }

std::int32_t error_show(void* waits, distrun_string text) {
  return seat_of(waits).writer.show_error({text.data, text.size});
}

void error_hide(void* waits, std::int32_t number) { seat_of(waits).writer.hide_error(number); }

// The data that a snapshot passes across the C interface; it refers to `shown`.
struct Lent {
  explicit Lent(const board::Shown& shown);

  distrun_peer peer{};
  std::vector<board::PeerSet> peers;
  std::vector<distrun_wait> waits;
  std::vector<distrun_operation> operations;
};

distrun_wait lend(const board::ShownWait& shown, board::PeerSet& peers) {
  for (const int rank : shown.peers) peers.add(rank);
  distrun_wait wait{};
  wait.size = sizeof wait;
  wait.abi = DISTRUN_ABI;
  wait.kind = static_cast<std::int32_t>(shown.kind);
  wait.peer_rule = static_cast<std::int32_t>(shown.rule);
  wait.name = view(shown.name);
  wait.peers = peers.bits.data();
  wait.peer_words = peers.bits.size();
  wait.id = shown.id;
  wait.deadline_ns = shown.deadline_ns;
  wait.file = shown.file.c_str();
  wait.line = shown.line;
  wait.in_body = shown.in_body ? 1 : 0;
  wait.since_ns = shown.since_ns;
  return wait;
}

distrun_operation lend(const board::ShownOperation& shown) {
  distrun_operation operation{};
  operation.size = sizeof operation;
  operation.abi = DISTRUN_ABI;
  operation.kind = static_cast<std::int32_t>(shown.kind);
  operation.peer = shown.peer;
  operation.name = view(shown.name);
  operation.id = shown.id;
  operation.number = shown.number;
  operation.at_ns = shown.at_ns;
  return operation;
}

Lent::Lent(const board::Shown& shown) : peers(shown.waits.size()) {
  for (std::size_t i = 0; i < peers.size(); ++i) waits.push_back(lend(shown.waits[i], peers[i]));
  for (const board::ShownOperation& each : shown.operations) operations.push_back(lend(each));
  peer.size = sizeof peer;
  peer.abi = DISTRUN_ABI;
  peer.pid = shown.pid;
  peer.phase = static_cast<std::int32_t>(shown.phase);
  peer.epoch = shown.epoch;
  peer.waits = waits.data();
  peer.wait_count = waits.size();
  peer.operations = operations.data();
  peer.operation_count = operations.size();
}

std::int32_t look_at_peer(void* waits, std::int32_t rank, void (*shown)(void*, const distrun_peer*), void* context) {
  const Seat& seat = seat_of(waits);
  const board::Slot* slot = seat.board.peer(rank);
  const std::optional<board::Shown> seen = slot != nullptr ? board::read(*slot, seat.world_size) : std::nullopt;
  if (!seen) return DISTRUN_NOT_FOUND;
  const Lent lent(*seen);
  shown(context, &lent.peer);
  return DISTRUN_OK;
}

}  // namespace

std::int32_t Seat::begin_wait(const board::WaitInfo& info, TimePoint deadline) noexcept {
  const std::int32_t cell = writer.begin_wait(info, board::coarse_now(), deadline);
  if (cell >= 0 && trace.is_on()) slices_[static_cast<std::size_t>(cell)] = trace.begin(slice_of(info));
  return cell;
}

void Seat::end_wait(std::int32_t number) noexcept {
  if (number >= 0 && trace.is_on()) trace.end(slices_[static_cast<std::size_t>(number)]);
  writer.end_wait(number);
}

void fill_in_seat(distrun_rank& api, Seat& seat) {
  api.waits = &seat;
  api.wait_begin = wait_begin;
  api.wait_end = wait_end;
  api.wait_begin_for = wait_begin_for;
  api.did = did;
  api.progress = progress;
  api.look_at_peer = look_at_peer;
  api.error_show = error_show;
  api.error_hide = error_hide;
}

}  // namespace distrun::rank
