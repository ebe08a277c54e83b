#include <distrun/runtime/collectives/shm/exchange.hpp>

#include <sched.h>

#include <algorithm>
#include <cstring>

#include <distrun/common/base/error.hpp>
#include <distrun/runtime/collectives/explain.hpp>
#include <distrun/runtime/collectives/shm/exchange_failure.hpp>

namespace distrun::collectives::shm {
namespace {

constexpr std::size_t kScratch = std::size_t{128} << 10;  // bytes reduced at once, which stay in a core's cache

constexpr std::size_t kWhole = std::size_t(-1);  // a piece that covers all bytes

template <class Span>
Span clamp(Span whole, std::size_t begin, std::size_t size) {
  begin = std::min(begin, whole.size());
  return whole.subspan(begin, std::min(size, whole.size() - begin));
}

void copy_end_of(const char* file, std::array<char, 48>& into) {
  const std::size_t size = std::strlen(file);
  const std::size_t kept = std::min(size, into.size() - 1);
  std::memcpy(into.data(), file + size - kept, kept);
  into[kept] = '\0';
}

// Marks that this rank reads other ranks' bytes in place; ranks of its process that give up wait for the end of that.
// Check after construction whether they have given up.
class Reading {
 public:
  Reading(Seat& own, bool in_place) : own_(in_place ? &own : nullptr) {
    if (own_ != nullptr) own_->reading.store(1);
  }
  ~Reading() {
    if (own_ != nullptr) own_->reading.store(0);
  }
  Reading(const Reading&) = delete;
  Reading& operator=(const Reading&) = delete;

 private:
  Seat* const own_;  // null: other ranks' bytes are in the shared memory, which stays
};

}  // namespace

Exchanges::Exchanges(std::shared_ptr<Area> area, const GroupInfo& group, const Bells& bells)
    : area_(std::move(area)),
      group_(group),
      bells_(bells),
      own_(area_->seat(group.rank)),
      memory_(area_),
      shown_(group.ranks.size()) {}

std::vector<int> Exchanges::not_at(std::uint64_t number, std::atomic<std::uint64_t> Seat::*counter) const {
  std::vector<int> places;
  for (int place = 0; place < group_.size(); ++place) {
    if ((area_->seat(place).*counter).load() < number) places.push_back(place);
  }
  return places;
}

// `ready` must also return true if there is nothing left to wait for.
template <class Ready>
void Exchanges::wait(const Call& call, const Ready& ready, const std::function<std::vector<int>()>& missing) {
  if (ready()) return;
  board::WaitInfo info;
  info.kind = board::WaitKind::Collective;
  const std::string name = std::string(name_of(call.kind)) + " of " + group_.name;
  info.name = name;
  info.rule = board::PeerRule::All;
  info.id = call.number;
  info.site = call.site;
  const auto ready_or_over = [&] { return ready() || is_over(); };
  const core::WaitEnd end = bells_.wait({info, call.deadline, missing}, ready_or_over);
  if (end == core::WaitEnd::Timeout) throw_timeout(group_, call, missing());
  if (ready()) return;
  if (is_over()) throw_cut_off(call);
  throw_gone(*area_, group_, name_of(group_, call.kind, call.number), call.site, missing());
}

void Exchanges::throw_cut_off(const Call& call) const {
  throw Error(ErrorKind::Cancelled, "DistBackendError",
              name_of(group_, call.kind, call.number) + " was cancelled: this rank has left the group", call.site);
}

void Exchanges::show(const Call& call, const Piece& piece) {
  header_.number = call.number;
  header_.bytes = call.kind == CallKind::AllToAll ? 0 : call.bytes();
  header_.root = call.root;
  header_.step = step_;
  header_.kind = call.kind;
  header_.reduce = call.reduce;
  header_.dtype = call.dtype;
  header_.in_place = piece.in_place ? 1 : 0;
  header_.line = call.site.line;
  header_.sizes = call.sizes;
  header_.is_strict = call.is_strict ? 1 : 0;
  copy_end_of(call.site.file, header_.file);
  area_->header(group_.rank, now_) = header_;
  mark_ = mark_of(header_);
}

void Exchanges::come(const Call& call, const Contribution& contribution, const Piece& piece) {
  const std::uint64_t next = now_ + 1;
  if (next > kSlots) {
    const std::uint64_t last = next - kSlots;  // the last exchange that used this slot header
    for (int place = 0; place < group_.size(); ++place) {
      const Seat& seat = area_->seat(place);
      const auto gone = [&] { return seat.presence.load() != Presence::Here; };
      wait(
          call, [&] { return seat.left.load() >= last || gone(); }, [&] { return not_at(last, &Seat::left); });
    }
  }
  now_ = next;
  show(call, piece);
  std::size_t used = 0;
  for (std::size_t i = 0; i < contribution.parts.size(); ++i) {
    const ConstBytes bytes = clamp(contribution.parts[i], piece.begin, piece.size);
    Part& part = area_->part(group_.rank, now_, static_cast<int>(i));
    part.size = bytes.size();
    part.at = piece.in_place ? reinterpret_cast<std::uint64_t>(bytes.data()) : used;
    if (piece.in_place || bytes.empty()) continue;
    std::memcpy(area_->room(group_.rank, now_) + used, bytes.data(), bytes.size());
    used += bytes.size();
  }
  // Read after `come`. The stores are adjacent, since other ranks keep polling that cache line and taking it away.
  own_.marks[now_ % kSlots].store(mark_, std::memory_order_relaxed);
  come_.store(now_, std::memory_order_relaxed);
  own_.come.store(now_);
  area_->show_come(now_, static_cast<int>(contribution.parts.size()), used);
  bells_.ring_all();
}

// A rank that has gone takes nothing.
void Exchanges::leave(const Call& call, const Contribution& contribution, const Piece& piece) {
  done();
  if (!piece.in_place || contribution.parts.empty() || contribution.stay) return;
  for (int place = 0; place < group_.size(); ++place) {
    const Seat& seat = area_->seat(place);
    wait(
        call, [&] { return seat.left.load() >= now_ || seat.presence.load() != Presence::Here; },
        [&] { return not_at(now_, &Seat::left); });
  }
}

void Exchanges::meet(const Call& call, int rank) {
  const Seat& seat = area_->seat(rank);
  const auto is_there = [&] { return seat.come.load() >= now_; };
  if (!is_there()) {
    wait(
        call, [&] { return is_there() || seat.presence.load() != Presence::Here; },
        [&] { return not_at(now_, &Seat::come); });
    if (!is_there()) throw_gone(*area_, group_, name_of(group_, call.kind, call.number), call.site, {rank});
  }
  if (!is_same(area_->header(rank, now_), header_)) tell_mismatch(call);
}

// Compares with every rank that has arrived, even if nothing is taken from it: of two ranks the later one sees the
// other.
void Exchanges::compare_with_all(const Call& call) {
  for (int place = 0; place < group_.size(); ++place) {
    const Seat& seat = area_->seat(place);
    if (place == group_.rank || seat.come.load() < now_) continue;
    const bool is_other = seat.marks[now_ % kSlots].load(std::memory_order_relaxed) != mark_ ||
                          (call.is_strict && !is_same(area_->header(place, now_), header_));
    if (is_other) tell_mismatch(call);
  }
}

// Called after this rank has left an exchange: fails if a rank has gone without arriving at it. A rank that goes later
// sees that this one has left the exchange (why_missed()).
void Exchanges::refuse_if_anybody_missed(const Call& call) const {
  for (int place = 0; place < group_.size(); ++place) {
    const Seat& seat = area_->seat(place);
    if (seat.presence.load() == Presence::Here || seat.come.load() >= now_) continue;
    throw_gone(*area_, group_, name_of(group_, call.kind, call.number), call.site, {place});
  }
}

std::vector<int> Exchanges::missing() const {
  const std::uint64_t last = come_.load();
  return left_.load() < last ? not_at(last, &Seat::come) : std::vector<int>();
}

// Skips point-to-point messages: a small one is sent whether or not it is received.
std::exception_ptr Exchanges::why_missed() const {
  const std::uint64_t next = come_.load() + 1;
  for (int place = 0; place < group_.size(); ++place) {
    if (area_->seat(place).left.load() < next || is_point_to_point(area_->header(place, next).kind)) continue;
    return std::make_exception_ptr(missed_exchange(*area_, group_, next));
  }
  return nullptr;
}

// Waits briefly for all ranks, to show which are in the minority.
void Exchanges::tell_mismatch(const Call& call) {
  constexpr base::Nanoseconds kSoon = std::chrono::milliseconds(50);
  board::WaitInfo info;
  info.kind = board::WaitKind::Collective;
  info.name = name_of(call.kind);
  info.site = call.site;
  const std::function<std::vector<int>()> missing = [this] { return not_at(now_, &Seat::come); };
  bells_.wait({info, base::system_clock().now() + kSoon, missing}, [&] { return missing().empty(); });
  throw_mismatch(*area_, group_, call, now_);
}

// Returns true if the rank has given up in this exchange, so that its bytes may be gone.
bool Exchanges::has_given_up(int rank) const {
  const Seat& seat = area_->seat(rank);
  return seat.presence.load() == Presence::GaveUp && seat.left.load() < now_;
}

void Exchanges::refuse_given_up(const Call& call, int rank) const {
  if (has_given_up(rank)) throw_gone(*area_, group_, name_of(group_, call.kind, call.number), call.site, {rank});
}

void Exchanges::wait_for_readers() const noexcept {
  if (!in_place_) return;
  for (int rank = 0; rank < group_.size(); ++rank) {
    if (rank == group_.rank) continue;
    while (area_->seat(rank).reading.load() != 0) ::sched_yield();
  }
}

Exchanges::Shown Exchanges::part_of(const Call& call, int rank, int part, std::size_t size) const {
  const Part shown = copied(area_->part(rank, now_, part));
  if (shown.size != size) throw_wrong_size(group_, call, rank, shown.size, size);
  // Addresses are only accepted from threads of this process.
  const bool in_place = in_place_ && copied(area_->header(rank, now_).in_place) != 0;
  if (!in_place && (size > kRoom || shown.at > kRoom - size)) {
    throw_broken(group_, rank,
                 "it shows " + std::to_string(size) + " bytes from byte " + std::to_string(shown.at) +
                     " of its buffer on, which has " + std::to_string(kRoom),
                 call.site);
  }
  return {shown.at, in_place};
}

void Exchanges::take(const Call& call, const Take& take, const Piece& piece) {
  meet(call, take.from);
  const Reading reading(own_, in_place_);
  refuse_given_up(call, take.from);
  const Bytes into = clamp(take.into, piece.begin, piece.size);
  if (take.into.empty() && call.kind == CallKind::Barrier) return;
  const Shown part = part_of(call, take.from, take.part, into.size());
  if (into.empty()) return;
  if (part.in_place) return memory_.read(take.from, part.at, into.data(), into.size());
  std::memcpy(into.data(), area_->room(take.from, now_) + part.at, into.size());
}

const std::byte* Exchanges::view(int rank, std::size_t offset, std::size_t size, std::byte* scratch) {
  const Shown shown = shown_[static_cast<std::size_t>(rank)];
  if (!shown.in_place) return area_->room(rank, now_) + shown.at + offset;
  if (const std::byte* own = memory_.direct(shown.at + offset)) return own;
  memory_.read(rank, shown.at + offset, scratch, size);
  return scratch;
}

// Reduces block by block, so that the bytes stay in the cache. The last rank's block is combined straight into the
// result, which may overlap this rank's own part: that block is no longer needed then.
void Exchanges::reduce_piece(const Call& call, int part, Bytes into, const Piece& piece) {
  const Bytes out = clamp(into, piece.begin, piece.size);
  const std::size_t element = tensor::size_of(call.dtype);
  for (int rank = 0; rank < group_.size(); ++rank) {
    meet(call, rank);
    shown_[static_cast<std::size_t>(rank)] = part_of(call, rank, part, out.size());
  }
  const Reading reading(own_, in_place_);
  for (int rank = 0; rank < group_.size(); ++rank) refuse_given_up(call, rank);
  scratch_.resize(2 * kScratch);
  std::byte* const sum = scratch_.data();
  std::byte* const fetched = sum + kScratch;
  for (std::size_t begin = 0; begin < out.size(); begin += kScratch) {
    const std::size_t size = std::min(kScratch, out.size() - begin);
    const std::byte* so_far = view(0, begin, size, sum);
    for (int rank = 1; rank < group_.size(); ++rank) {
      std::byte* const to = rank + 1 == group_.size() ? out.data() + begin : sum;
      combine(call.reduce, call.dtype, to, so_far, view(rank, begin, size, fetched), size / element);
      so_far = to;
    }
    if (group_.size() == 1 && so_far != out.data() + begin) std::memmove(out.data() + begin, so_far, size);
  }
  finish(call.reduce, call.dtype, out.data(), out.size() / element, group_.size());
}

// Checks the clock before each piece: other ranks may determine the number of pieces (all_to_all), and ranks that
// always show up would never make this one time out.
template <class Body>
void Exchanges::for_each_piece(const Call& call, const Contribution& contribution, const Body& body) {
  constexpr std::size_t kLine = 64;  // elements are not split
  const std::size_t room = kRoom / static_cast<std::size_t>(contribution.count) / kLine * kLine;
  Piece piece{.begin = 0, .size = room};
  if (in_place_) piece = {.begin = 0, .size = kWhole, .in_place = contribution.largest > room};
  do {
    if (piece.begin != 0 && base::system_clock().now() >= call.deadline) throw_timeout(group_, call, {});
    body(piece);
    piece.begin += std::min(piece.size, contribution.largest);
  } while (piece.size != kWhole && piece.begin < contribution.largest);
}

void Exchanges::copy(const Call& call, const Contribution& contribution, const std::vector<Take>& takes) {
  const bool is_one_way = takes.size() + 1 < group_.ranks.size();  // does not wait for all others
  for_each_piece(call, contribution, [&](const Piece& piece) {
    come(call, contribution, piece);
    if (is_one_way) compare_with_all(call);
    for (const Take& each : takes) take(call, each, piece);
    leave(call, contribution, piece);
    if (is_one_way && !is_point_to_point(call.kind)) refuse_if_anybody_missed(call);
  });
}

void Exchanges::reduce(const Call& call, const Contribution& contribution, int part, Bytes into) {
  for_each_piece(call, contribution, [&](const Piece& piece) {
    come(call, contribution, piece);
    reduce_piece(call, part, into, piece);
    leave(call, contribution, piece);
  });
}

void Exchanges::gather(const Call& call) {
  come(call, {}, {});
  for (int rank = 0; rank < group_.size(); ++rank) meet(call, rank);
}

void Exchanges::done() noexcept {
  left_.store(now_, std::memory_order_relaxed);
  own_.left.store(now_);
  area_->show_left(now_);
  bells_.ring_all();
  ++step_;
}

void Exchanges::wait_for_all_done(base::TimePoint deadline) const {
  const std::uint64_t last = left_.load();
  const std::function<std::vector<int>()> missing = [&] {
    std::vector<int> places = not_at(last, &Seat::left);
    std::erase_if(places, [&](int place) { return area_->seat(place).presence.load() != Presence::Here; });
    return places;
  };
  board::WaitInfo info;
  info.kind = board::WaitKind::Collective;
  info.name = "the end of their last call, to leave the group";
  bells_.wait({info, deadline, missing}, [&] { return missing().empty(); });
}

// Waits a moment: a rank that leaves shows it before its connections close, a process that dies soon after.
void Exchanges::throw_if_somebody_goes(const Call& call) const {
  constexpr base::Nanoseconds kSoon = std::chrono::seconds(1), kLook = std::chrono::milliseconds(2);
  board::WaitInfo info;
  info.kind = board::WaitKind::Collective;
  info.name = name_of(call.kind);
  info.site = call.site;
  const std::function<std::vector<int>()> others = [&] { return not_at(std::uint64_t(-1), &Seat::left); };
  const auto has_gone = [&](int place) { return area_->seat(place).presence.load() != Presence::Here; };
  const auto somebody_goes = [&] {
    const std::vector<int> places = others();
    return std::any_of(places.begin(), places.end(), has_gone);
  };
  const base::TimePoint until = base::system_clock().now() + kSoon;
  for (base::TimePoint now; (now = base::system_clock().now()) < until;) {
    if (bells_.wait({info, now + kLook, others}, somebody_goes) == core::WaitEnd::Timeout) continue;
    if (is_over()) throw_cut_off(call);
    throw_gone(*area_, group_, name_of(group_, call.kind, call.number), call.site, others());
  }
}

void Exchanges::explain(const Call& call, const std::string& what) const {
  const std::string name = name_of(group_, call.kind, call.number);
  throw_if_dead(*area_, group_, name, call.site);
  if (base::system_clock().now() >= call.deadline) throw_timeout(group_, call, not_at(now_, &Seat::left));
  throw_if_somebody_goes(call);
  throw Error(ErrorKind::Failed, "DistBackendError", name + ": " + what, call.site);
}

}  // namespace distrun::collectives::shm
