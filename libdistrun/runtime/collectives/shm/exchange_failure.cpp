#include <distrun/runtime/collectives/shm/exchange_failure.hpp>

#include <algorithm>
#include <cstring>
#include <string>

#include <distrun/common/base/error.hpp>
#include <distrun/runtime/collectives/explain.hpp>
#include <distrun/runtime/core/wait.hpp>

namespace distrun::collectives::shm {
namespace {

bool has_root(CallKind kind) {
  return kind == CallKind::Broadcast || kind == CallKind::Reduce || kind == CallKind::Gather ||
         kind == CallKind::Scatter;
}

bool reduces(CallKind kind) {
  return kind == CallKind::AllReduce || kind == CallKind::Reduce || kind == CallKind::ReduceScatter;
}

std::string text_of(const GroupInfo& group, const Card& card) {
  std::string text = std::string(name_of(card.kind)) + " number " + std::to_string(card.number);
  if (reduces(card.kind)) text += std::string(", ") + name_of(card.reduce);
  if (has_root(card.kind) && card.root >= 0 && card.root < group.size()) {
    text += std::string(", ") + (card.kind == CallKind::Broadcast || card.kind == CallKind::Scatter ? "from" : "to") +
            " rank " + std::to_string(group.ranks[static_cast<std::size_t>(card.root)]);
  }
  if (card.kind != CallKind::Barrier) {
    text += ", " + std::string(tensor::name_of(card.dtype)) + " " + to_string(card.sizes);
  }
  const std::string site = site_text(card.file.data(), card.line);
  return site.empty() ? text : text + " (" + site + ")";
}

// What others show may be nonsense.
Card read_card(const Area& area, int rank, std::uint64_t exchange) {
  Card card = area.card(rank, exchange);
  card.file.back() = '\0';
  card.kind = static_cast<CallKind>(std::min<int>(static_cast<int>(card.kind), kCallKinds - 1));
  card.dtype = static_cast<DType>(std::min<int>(static_cast<int>(card.dtype), tensor::kDTypeCount - 1));
  return card;
}

struct Same {
  std::string text;
  std::vector<int> places;
};

std::vector<Same> who_does_what(const Area& area, const GroupInfo& group, std::uint64_t exchange) {
  std::vector<Same> all;
  for (int place = 0; place < group.size(); ++place) {
    const std::uint64_t come = area.seat(place).come.load();
    if (come < exchange || come >= exchange + kCards) continue;  // its card is not there yet, or no longer
    std::string text = text_of(group, read_card(area, place, exchange));
    const auto like = std::find_if(all.begin(), all.end(), [&](const Same& each) { return each.text == text; });
    if (like != all.end()) {
      like->places.push_back(place);
    } else {
      all.push_back({std::move(text), {place}});
    }
  }
  return all;
}

}  // namespace

bool is_same(const Card& a, const Card& b) noexcept {
  return a.number == b.number && a.kind == b.kind && a.dtype == b.dtype && a.bytes == b.bytes && a.reduce == b.reduce &&
         a.root == b.root && a.step == b.step && (!(a.is_strict && b.is_strict) || a.sizes == b.sizes);
}

void throw_mismatch(const Area& area, const GroupInfo& group, const Call& call, std::uint64_t exchange) {
  std::string text;
  for (const Same& each : who_does_what(area, group, exchange)) {
    const bool one = each.places.size() == 1;
    text += (text.empty() ? "" : "; ") + ranks_text(group, each.places) + (one ? " is in " : " are in ") + each.text;
  }
  throw Error(ErrorKind::InvalidArgument, "DistBackendError",
              "the ranks of group " + group.name + " do not call the same: " + text, call.site);
}

void throw_wrong_size(const GroupInfo& group, const Call& call, int from, std::size_t sent, std::size_t taken) {
  throw Error(ErrorKind::InvalidArgument, "DistBackendError",
              name_of(group, call.kind, call.number) + ": " + ranks_text(group, {from}) + " sends " +
                  std::to_string(sent) + " bytes to " + ranks_text(group, {group.rank}) + ", which takes " +
                  std::to_string(taken),
              call.site);
}

namespace {

// By how near each is to the cause: who has died, who has left, and who has given up because of them.
enum class Gone : std::uint8_t { Not, GaveUp, Left, Dead };

Gone how_gone(const Seat& seat) {
  const Presence presence = seat.presence.load();
  if (presence == Presence::Left) return Gone::Left;
  const int pid = seat.pid.load();
  if (pid != 0 && !core::is_alive(pid)) return presence == Presence::GaveUp ? Gone::GaveUp : Gone::Dead;
  return presence == Presence::GaveUp ? Gone::GaveUp : Gone::Not;
}

std::string text_of(const Seat& seat, Gone gone) {
  switch (gone) {
    case Gone::Dead: return "is gone: its process " + std::to_string(seat.pid.load()) + " has ended";
    case Gone::Left: return "has left the group";
    default: {
      const std::string why(seat.why.data(), ::strnlen(seat.why.data(), seat.why.size()));
      return "has given up the group: " + why;
    }
  }
}

}  // namespace

void throw_gone(const Area& area, const GroupInfo& group, const std::string& what, base::Location site,
                const std::vector<int>& missing) {
  if (core::rank_state().has_failed_peer()) core::throw_peer_failed(what, site);
  const auto nearest = std::max_element(missing.begin(), missing.end(),
                                        [&](int a, int b) { return how_gone(area.seat(a)) < how_gone(area.seat(b)); });
  if (nearest == missing.end()) throw base::PeerFailed(what + ": a rank has gone", -1, site);
  const Seat& seat = area.seat(*nearest);
  const Gone gone = how_gone(seat);
  if (gone == Gone::Not) throw base::PeerFailed(what + ": a rank has gone", -1, site);
  const int rank = group.ranks[static_cast<std::size_t>(*nearest)];
  throw base::PeerFailed(what + ": rank " + std::to_string(rank) + " " + text_of(seat, gone), rank, site);
}

}  // namespace distrun::collectives::shm
