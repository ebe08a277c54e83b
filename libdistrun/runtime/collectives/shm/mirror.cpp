#include <distrun/runtime/collectives/shm/mirror.hpp>

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <stdexcept>
#include <utility>

#include <distrun/common/base/error.hpp>
#include <distrun/runtime/collectives/shm/area.hpp>
#include <distrun/runtime/collectives/shm/bell.hpp>

namespace distrun::collectives::shm {
namespace {

enum class Kind : std::uint32_t { Come = 1, Left, Message, Taken, End, CauseOf };

struct FrameHead {
  std::uint32_t kind = 0;
  std::uint32_t unused = 0;
  std::uint64_t size = 0;  // of the body
};
struct ComeHead {
  std::uint64_t exchange = 0;
  std::uint64_t mark = 0;
  std::uint64_t parts = 0;  // as many Parts follow,
  std::uint64_t used = 0;   // then as many bytes of the room
  SlotHeader header;
};
struct MessageHead {
  std::uint64_t written = 0;
  MessageHeader head;  // its bytes follow
};
struct EndBody {
  std::uint32_t presence = 0;
  std::array<char, 512> why{};
};

constexpr std::uint64_t kBodyMost = std::uint64_t{1} << 40;  // the bytes of a message
constexpr base::Nanoseconds kLastPatience = std::chrono::seconds(2);
constexpr std::size_t kReadSize = std::size_t{64} << 10;

template <class T>
void append(std::vector<std::byte>& bytes, const T& value) {
  static_assert(std::is_trivially_copyable_v<T>);
  const auto* const first = reinterpret_cast<const std::byte*>(&value);
  bytes.insert(bytes.end(), first, first + sizeof value);
}
void append(std::vector<std::byte>& bytes, const std::byte* more, std::size_t size) {
  bytes.insert(bytes.end(), more, more + size);
}

// Fills in the size of the body.
std::vector<std::byte> frame_of(Kind kind, std::size_t body_size) {
  std::vector<std::byte> frame;
  frame.reserve(sizeof(FrameHead) + body_size);
  append(frame, FrameHead{static_cast<std::uint32_t>(kind), 0, body_size});
  return frame;
}

[[noreturn]] void refuse(const char* what) { throw std::runtime_error(what); }

// Reads a T from the front of the bytes, and removes it.
template <class T>
T take_front(ConstBytes& bytes) {
  if (bytes.size() < sizeof(T)) refuse("a frame is too short");
  T value;
  std::memcpy(&value, bytes.data(), sizeof value);
  bytes = bytes.subspan(sizeof value);
  return value;
}

template <class T>
T only(ConstBytes bytes) {
  const T value = take_front<T>(bytes);
  if (!bytes.empty()) refuse("a frame is too long");
  return value;
}

bool would_block(int number) { return number == EAGAIN || number == EINTR; }

}  // namespace

Mirror::Mirror(Area& area, const GroupInfo& group, std::vector<FarRank> ranks)
    : area_(area), own_(group.rank), wake_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  if (!wake_) base::throw_errno("cannot create an event", errno);
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    Peer& peer = *peers_.emplace_back(std::make_unique<Peer>());
    peer.rank = static_cast<int>(i);
    peer.socket = std::move(ranks[i].socket);
    peer.host = std::move(ranks[i].host);
    peer.pid = ranks[i].pid;
    peer.is_over = !peer.socket;
  }
  thread_.emplace("distrun-group", [this] { run(); });
}

Mirror::~Mirror() {
  is_stopped_.store(true);
  wake();
}

void Mirror::wake() const noexcept {
  const std::uint64_t one = 1;
  (void)!::write(wake_.get(), &one, sizeof one);
}

// ---- what this rank shows

// Sends at once what the socket takes; the thread sends the rest.
void Mirror::send(Peer& peer, ConstBytes frame) noexcept {
  if (!peer.socket) return;
  try {
    const std::lock_guard lock(peer.mutex);
    std::size_t done = 0;
    if (peer.out.empty()) {
      const ssize_t count = ::send(peer.socket.get(), frame.data(), frame.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
      if (count < 0 && !would_block(errno)) return;  // the thread notices that the connection has ended
      done = static_cast<std::size_t>(std::max<ssize_t>(count, 0));
    }
    if (done == frame.size()) return;
    append(peer.out, frame.data() + done, frame.size() - done);
    wake();
  } catch (const std::exception&) {  // no memory
    cut_off(peer);
  }
}

void Mirror::send_all(ConstBytes frame) noexcept {
  for (const auto& peer : peers_) send(*peer, frame);
}

void Mirror::cut_off(Peer& peer) noexcept {
  if (peer.socket) ::shutdown(peer.socket.get(), SHUT_RDWR);
}

void Mirror::show_come(std::uint64_t exchange, int parts, std::size_t used) noexcept {
  try {
    const ComeHead head{exchange, area_.seat(own_).marks[exchange % kSlots].load(), static_cast<std::uint64_t>(parts),
                        used, area_.header(own_, exchange)};
    auto frame = frame_of(Kind::Come, sizeof head + index(parts) * sizeof(Part) + used);
    append(frame, head);
    for (int i = 0; i < parts; ++i) append(frame, area_.part(own_, exchange, i));
    append(frame, area_.room(own_, exchange), used);
    send_all(frame);
  } catch (const std::exception&) {  // no memory
    for (const auto& peer : peers_) cut_off(*peer);
  }
}

void Mirror::show_left(std::uint64_t exchange) noexcept {
  try {
    auto frame = frame_of(Kind::Left, sizeof exchange);
    append(frame, exchange);
    send_all(frame);
  } catch (const std::exception&) {  // no memory
    for (const auto& peer : peers_) cut_off(*peer);
  }
}

void Mirror::show_message(int to, std::uint64_t written, ConstBytes outside) noexcept {
  Peer& peer = *peers_[index(to)];
  try {
    const MessageSlot& slot = area_.mail_box(own_, to).messages[(written - 1) % kMessages];
    const ConstBytes bytes =
        slot.head.carriage == Carriage::Inside ? ConstBytes(slot.inside).first(slot.head.size) : outside;
    auto frame = frame_of(Kind::Message, sizeof(MessageHead) + bytes.size());
    append(frame, MessageHead{written, slot.head});
    append(frame, bytes.data(), bytes.size());
    if (to != own_) return send(peer, frame);
    const std::lock_guard lock(peer.mutex);
    peer.outside[(written - 1) % kMessages].assign(outside.begin(), outside.end());
  } catch (const std::exception&) {  // no memory
    cut_off(peer);
  }
}

void Mirror::show_taken(int from, std::uint64_t taken) noexcept {
  Peer& peer = *peers_[index(from)];
  try {
    auto frame = frame_of(Kind::Taken, sizeof taken);
    append(frame, taken);
    send(peer, frame);
  } catch (const std::exception&) {  // no memory
    cut_off(peer);
  }
}

void Mirror::show_end(Presence how, std::string_view why) noexcept {
  try {
    EndBody body;
    body.presence = static_cast<std::uint32_t>(how);
    std::memcpy(body.why.data(), why.data(), std::min(why.size(), body.why.size() - 1));
    auto frame = frame_of(Kind::End, sizeof body);
    append(frame, body);
    send_all(frame);
  } catch (const std::exception&) {  // no memory
    for (const auto& peer : peers_) cut_off(*peer);
  }
}

void Mirror::show_cause(std::uint64_t cause) noexcept {
  try {
    auto frame = frame_of(Kind::CauseOf, sizeof cause);
    append(frame, cause);
    send_all(frame);
  } catch (const std::exception&) {  // no memory: the others do not learn the cause
    return;
  }
}

std::vector<std::byte> Mirror::take_outside(int from, std::uint64_t written) {
  Peer& peer = *peers_[index(from)];
  const std::lock_guard lock(peer.mutex);
  return std::exchange(peer.outside[(written - 1) % kMessages], {});
}

// ---- the thread

void Mirror::run() noexcept {
  try {
    serve_until_stopped();
  } catch (const std::exception&) {  // no memory
    for (const auto& peer : peers_) cut_off(*peer);
    for (const auto& peer : peers_) end(*peer);
  }
}

bool Mirror::is_flushed() const {
  return std::all_of(peers_.begin(), peers_.end(), [](const auto& peer) {
    const std::lock_guard lock(peer->mutex);
    return peer->is_over || peer->out.empty();
  });
}

void Mirror::serve_until_stopped() {
  constexpr int kOften = 50;  // ms, between looks at the clock once it is stopped
  std::vector<pollfd> entries(peers_.size() + 1);
  base::TimePoint stopped{};
  for (;;) {
    const bool stops = is_stopped_.load();
    const base::TimePoint now = base::system_clock().now();
    if (stops && stopped == base::TimePoint{}) stopped = now;
    if (stops && (now >= stopped + kLastPatience || is_flushed())) return;
    for (std::size_t i = 0; i < peers_.size(); ++i) {
      const std::lock_guard lock(peers_[i]->mutex);
      const bool waits = !peers_[i]->out.empty();
      entries[i] = {peers_[i]->is_over ? -1 : peers_[i]->socket.get(),
                    static_cast<short>(POLLIN | (waits ? POLLOUT : 0)), 0};
    }
    entries.back() = {wake_.get(), POLLIN, 0};
    ::poll(entries.data(), entries.size(), stops ? kOften : -1);
    std::uint64_t woken = 0;
    (void)!::read(wake_.get(), &woken, sizeof woken);
    for (std::size_t i = 0; i < peers_.size(); ++i) {
      if ((entries[i].revents & POLLOUT) != 0) flush(*peers_[i]);
      if ((entries[i].revents & ~POLLOUT) != 0) receive(*peers_[i]);
    }
  }
}

void Mirror::flush(Peer& peer) {
  const std::lock_guard lock(peer.mutex);
  const ssize_t count = ::send(peer.socket.get(), peer.out.data(), peer.out.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
  if (count > 0) peer.out.erase(peer.out.begin(), peer.out.begin() + count);
  if (count < 0 && !would_block(errno)) peer.out.clear();  // the connection has ended, as reading tells
}

// A rank that sends what no rank sends is cut off like one that has ended.
void Mirror::receive(Peer& peer) {
  const std::size_t had = peer.in.size();
  try {
    peer.in.resize(had + kReadSize);
    const ssize_t count = ::recv(peer.socket.get(), peer.in.data() + had, kReadSize, MSG_DONTWAIT);
    const int number = errno;
    peer.in.resize(had + static_cast<std::size_t>(std::max<ssize_t>(count, 0)));
    if (count == 0 || (count < 0 && !would_block(number))) return end(peer);
    if (count > 0) take_frames(peer);
  } catch (const std::exception&) {  // refused, or no memory
    cut_off(peer);
    end(peer);
  }
}

void Mirror::take_frames(Peer& peer) {
  ConstBytes rest(peer.in);
  for (;;) {
    ConstBytes front = rest;
    if (front.size() < sizeof(FrameHead)) break;
    const auto head = take_front<FrameHead>(front);
    if (head.size > kBodyMost) refuse("a frame is too large");
    if (front.size() < head.size) {
      peer.in.reserve(std::min<std::size_t>(head.size, std::size_t{64} << 20));
      break;
    }
    apply(peer, head.kind, front.first(head.size));
    rest = front.subspan(head.size);
  }
  const std::size_t used = peer.in.size() - rest.size();
  peer.in.erase(peer.in.begin(), peer.in.begin() + static_cast<std::ptrdiff_t>(used));
  if (used != 0 && area_.seat(own_).sleepers.load() != 0) strike(area_.seat(own_));
}

void Mirror::apply(Peer& peer, std::uint32_t kind, ConstBytes body) {
  switch (static_cast<Kind>(kind)) {
    case Kind::Come: return apply_come(peer, body);
    case Kind::Left: return area_.seat(peer.rank).left.store(only<std::uint64_t>(body));
    case Kind::Message: return apply_message(peer, body);
    case Kind::Taken: return area_.mail_box(own_, peer.rank).taken.store(only<std::uint64_t>(body));
    case Kind::End: return apply_end(peer, body);
    case Kind::CauseOf: {
      std::uint64_t none = 0;
      area_.head().cause.compare_exchange_strong(none, only<std::uint64_t>(body));
      return;
    }
  }
  refuse("a frame has an unknown kind");
}

void Mirror::apply_come(const Peer& peer, ConstBytes body) {
  const auto head = take_front<ComeHead>(body);
  const bool is_right = head.exchange != 0 && head.parts <= peers_.size() && head.used <= kRoom &&
                        head.header.in_place == 0 && body.size() == head.parts * sizeof(Part) + head.used;
  if (!is_right) refuse("a call has wrong sizes");
  area_.header(peer.rank, head.exchange) = head.header;
  for (std::uint64_t i = 0; i < head.parts; ++i) {
    area_.part(peer.rank, head.exchange, static_cast<int>(i)) = take_front<Part>(body);
  }
  std::memcpy(area_.room(peer.rank, head.exchange), body.data(), body.size());
  Seat& seat = area_.seat(peer.rank);
  seat.marks[head.exchange % kSlots].store(head.mark);
  seat.come.store(head.exchange);
}

void Mirror::apply_message(Peer& peer, ConstBytes body) {
  const auto head = take_front<MessageHead>(body);
  const bool is_inside = head.head.carriage == Carriage::Inside;
  if (is_inside ? body.size() > kLetterRoom : head.head.carriage != Carriage::Sent) refuse("a message cannot be so");
#ifndef DISTRUN_FUZZ_PLANTED_BUG
  if (body.size() != head.head.size) refuse("a message has another size than it shows");
#endif
  MailBox& box = area_.mail_box(peer.rank, own_);
  const std::uint64_t before = head.written - 1;
  const bool is_next = before == box.written.load() && before - box.taken.load() < kMessages;
  if (!is_next) refuse("a message is not the next one, or its slot is not free");
  MessageSlot& slot = box.messages[(head.written - 1) % kMessages];
  slot.head = head.head;
  if (is_inside) {
    std::memcpy(slot.inside.data(), body.data(), body.size());
  } else {
    const std::lock_guard lock(peer.mutex);
    peer.outside[(head.written - 1) % kMessages].assign(body.begin(), body.end());
  }
  box.written.store(head.written);
}

void Mirror::apply_end(const Peer& peer, ConstBytes body) {
  auto end = only<EndBody>(body);
  end.why.back() = '\0';
  const auto how = static_cast<Presence>(end.presence);
  if (how != Presence::Left && how != Presence::GaveUp) refuse("a rank ends in an unknown way");
  area_.seat(peer.rank).show_end(how, end.why.data());
}

void Mirror::end(Peer& peer) noexcept {
  if (peer.is_over) return;
  peer.is_over = true;
  if (area_.seat(peer.rank).presence.load() == Presence::Here) {
    peer.is_lost.store(true);
    has_lost_any_.store(true);
  }
  strike(area_.seat(own_));
}

}  // namespace distrun::collectives::shm
