#include <distrun/runtime/collectives/shm/exchange_failure.hpp>

#include <algorithm>
#include <cstring>
#include <optional>
#include <string>

#include <distrun/common/base/text.hpp>
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

std::string text_of(const GroupInfo& group, const SlotHeader& header) {
  std::string text = std::string(name_of(header.kind)) + " number " + std::to_string(header.number);
  if (reduces(header.kind)) text += std::string(", ") + name_of(header.reduce);
  if (has_root(header.kind) && header.root >= 0 && header.root < group.size()) {
    text += std::string(", ") +
            (header.kind == CallKind::Broadcast || header.kind == CallKind::Scatter ? "from" : "to") + " rank " +
            std::to_string(group.ranks[static_cast<std::size_t>(header.root)]);
  }
  if (header.kind != CallKind::Barrier) {
    text += ", " + std::string(tensor::name_of(header.dtype)) + " " + to_string(header.sizes);
  }
  const std::string site = base::one_line(site_text(header.file.data(), header.line));
  return site.empty() ? text : text + " (" + site + ")";
}

// Clamps the fields, since other ranks may show nonsense.
SlotHeader read_header(const Area& area, int rank, std::uint64_t exchange) {
  SlotHeader header = copied(area.header(rank, exchange));
  header.file.back() = '\0';
  header.kind = static_cast<CallKind>(std::min<int>(static_cast<int>(header.kind), kCallKinds - 1));
  header.dtype = static_cast<DType>(std::min<int>(static_cast<int>(header.dtype), tensor::kDTypeCount - 1));
  return header;
}

struct Same {
  std::string text;
  std::vector<int> places;
};

std::vector<Same> who_does_what(const Area& area, const GroupInfo& group, std::uint64_t exchange) {
  std::vector<Same> all;
  for (int place = 0; place < group.size(); ++place) {
    const std::uint64_t come = area.seat(place).come.load();
    if (come < exchange || come >= exchange + kSlots) continue;  // its slot header is not there yet, or was reused
    std::string text = text_of(group, read_header(area, place, exchange));
    const auto like = std::find_if(all.begin(), all.end(), [&](const Same& each) { return each.text == text; });
    if (like != all.end()) {
      like->places.push_back(place);
    } else {
      all.push_back({std::move(text), {place}});
    }
  }
  return all;
}

std::string text_of(const GroupInfo& group, const std::vector<Same>& all) {
  std::string text;
  for (const Same& each : all) {
    const bool one = each.places.size() == 1;
    text += (text.empty() ? "" : "; ") + ranks_text(group, each.places) + (one ? " is in " : " are in ") + each.text;
  }
  return text;
}

std::string not_the_same(const GroupInfo& group) {
  return "the ranks of group " + group.name + " make different calls: ";
}

}  // namespace

bool is_same(const SlotHeader& a, const SlotHeader& b) noexcept {
  return a.number == b.number && a.kind == b.kind && a.dtype == b.dtype && a.bytes == b.bytes && a.reduce == b.reduce &&
         a.root == b.root && a.step == b.step && (!(a.is_strict && b.is_strict) || a.sizes == b.sizes);
}

// Returns a hash that collides only by chance; a few independent products, since it is computed for each exchange.
std::uint64_t mark_of(const SlotHeader& header) noexcept {
  const std::uint64_t kinds = static_cast<std::uint64_t>(header.kind) | static_cast<std::uint64_t>(header.reduce) << 8 |
                              static_cast<std::uint64_t>(header.dtype) << 16 |
                              static_cast<std::uint64_t>(static_cast<std::uint32_t>(header.root)) << 32;
  return header.number * 0x9e37'79b9'7f4a'7c15 + header.bytes * 0xbf58'476d'1ce4'e5b9 +
         header.step * std::uint64_t{0x94d0'49bb'1331'11eb} + kinds * 0xd6e8'feb8'6659'fd93;
}

void throw_mismatch(const Area& area, const GroupInfo& group, const Call& call, std::uint64_t exchange) {
  throw Error(ErrorKind::InvalidArgument, "DistBackendError",
              not_the_same(group) + text_of(group, who_does_what(area, group, exchange)), call.site);
}

Error missed_exchange(const Area& area, const GroupInfo& group, std::uint64_t exchange) {
  const std::vector<Same> others = who_does_what(area, group, exchange);
  return {ErrorKind::InvalidArgument, "DistBackendError",
          not_the_same(group) + (others.empty() ? "others have continued" : text_of(group, others)) + "; " +
              ranks_text(group, {group.rank}) + " has left the group before that",
          base::Location()};
}

void throw_wrong_size(const GroupInfo& group, const Call& call, int from, std::size_t sent, std::size_t taken) {
  throw Error(ErrorKind::InvalidArgument, "DistBackendError",
              name_of(group, call.kind, call.number) + ": " + ranks_text(group, {from}) + " sends " +
                  std::to_string(sent) + " bytes to " + ranks_text(group, {group.rank}) + ", which expects " +
                  std::to_string(taken),
              call.site);
}

void throw_broken(const GroupInfo& group, int place, const std::string& how, base::Location site) {
  throw Error(ErrorKind::Disconnected, "DistBackendError",
              ranks_text(group, {place}) + " has corrupted the shared memory of group " + group.name + ": " + how +
                  "; look for writes through bad pointers on that rank, and create a new group",
              site);
}

namespace {

// Ordered by nearness to the cause: a rank that died, one that left, one that gave up because of them.
enum class Gone : std::uint8_t { Not, GaveUp, Left, Dead };

Gone how_gone(const Area& area, int place) {
  const Presence presence = area.seat(place).presence.load();
  if (presence == Presence::Left) return Gone::Left;
  const int pid = area.pid_of(place);
  const bool is_dead = area.is_mirrored() ? area.has_lost(place) : pid != 0 && !core::is_alive(pid);
  if (is_dead) return presence == Presence::GaveUp ? Gone::GaveUp : Gone::Dead;
  return presence == Presence::GaveUp ? Gone::GaveUp : Gone::Not;
}

// A process on another host is known by its connection only.
std::string ended_text(const Area& area, const GroupInfo& group, Cause dead) {
  const std::string process = "is gone: its process " + std::to_string(dead.pid);
  const auto place = std::find(group.ranks.begin(), group.ranks.end(), dead.rank);
  if (!area.is_mirrored()) return process + " has ended";
  const std::string on =
      place == group.ranks.end() ? "" : " on " + area.far_side().host_of(static_cast<int>(place - group.ranks.begin()));
  return process + on + " has ended, or cannot be reached";
}

// Returns a dead rank of the group as a cause.
Cause cause_of(const Area& area, const GroupInfo& group, int place) {
  const int pid = area.is_mirrored() ? area.far_side().pid_of(place) : area.pid_of(place);
  return {group.ranks[static_cast<std::size_t>(place)], pid};
}

std::string text_of(const Area& area, const GroupInfo& group, int place, Gone gone) {
  switch (gone) {
    case Gone::Dead: return ended_text(area, group, cause_of(area, group, place));
    case Gone::Left: return "has left the group";
    default: {
      const auto why = copied(area.seat(place).why);
      return "has given up the group: " + base::printable({why.data(), ::strnlen(why.data(), why.size())});
    }
  }
}

std::string text_of(const GroupInfo& group, int place) {
  return "rank " + std::to_string(group.ranks[static_cast<std::size_t>(place)]);
}

[[noreturn]] void throw_failed(const Area& area, const std::string& what, base::Location site) {
  if (const auto failure = core::rank_state().peer_failure()) area.blame({failure->rank, 0});
  core::throw_peer_failed(what, site);
}

// Returns the rank that died first, as far as known. Ranks that are not missing count too: their death explains what
// the others do.
std::optional<Cause> who_died(const Area& area, const GroupInfo& group, const std::vector<int>& missing) {
  if (const auto shown = area.cause(); shown && shown->pid != 0) return shown;
  const auto cause_if_dead = [&](int place) -> std::optional<Cause> {
    if (how_gone(area, place) != Gone::Dead) return std::nullopt;
    return cause_of(area, group, place);
  };
  for (const int place : missing) {
    if (const auto dead = cause_if_dead(place)) return dead;
  }
  for (int place = 0; place < group.size(); ++place) {
    if (const auto dead = cause_if_dead(place)) return dead;
  }
  return std::nullopt;
}

// Throws for a dead rank. If `left` (-1: none), an awaited group rank, has gone in consequence, the text says so.
[[noreturn]] void throw_dead(const Area& area, const GroupInfo& group, const std::string& what, base::Location site,
                             Cause dead, int left) {
  area.blame(dead);
  core::rank_state().note_death({dead.rank, dead.pid});
  std::string text = what + ": rank " + std::to_string(dead.rank) + " " + ended_text(area, group, dead);
  if (left >= 0 && group.ranks[static_cast<std::size_t>(left)] != dead.rank) {
    const bool gave_up = how_gone(area, left) == Gone::GaveUp;
    text += "; since then " + text_of(group, left) + (gave_up ? " has given up the group" : " has left the group");
  }
  throw base::PeerFailed(text, dead.rank, site);
}

}  // namespace

void throw_gone(const Area& area, const GroupInfo& group, const std::string& what, base::Location site,
                const std::vector<int>& missing) {
  if (core::rank_state().has_failed_peer()) throw_failed(area, what, site);
  const auto nearest = std::max_element(missing.begin(), missing.end(),
                                        [&](int a, int b) { return how_gone(area, a) < how_gone(area, b); });
  const Gone gone = nearest == missing.end() ? Gone::Not : how_gone(area, *nearest);
  const bool has_left = gone == Gone::Left || gone == Gone::GaveUp;
  if (const auto dead = who_died(area, group, missing)) {
    throw_dead(area, group, what, site, *dead, has_left ? *nearest : -1);
  }
  if (gone == Gone::Not) throw base::PeerFailed(what + ": a rank has gone", -1, site);
  const int rank = group.ranks[static_cast<std::size_t>(*nearest)];
  const std::string text = what + ": " + text_of(group, *nearest) + " " + text_of(area, group, *nearest, gone);
  if (gone == Gone::Left) throw PeerLeft(text, rank, site);
  const auto cause = gone == Gone::GaveUp ? area.cause() : std::nullopt;
  throw base::PeerFailed(text, cause ? cause->rank : rank, site);
}

void throw_if_dead(const Area& area, const GroupInfo& group, const std::string& what, base::Location site) {
  if (core::rank_state().has_failed_peer()) throw_failed(area, what, site);
  if (const auto dead = who_died(area, group, {})) throw_dead(area, group, what, site, *dead, -1);
}

}  // namespace distrun::collectives::shm
