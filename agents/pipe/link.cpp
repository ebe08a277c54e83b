#include <agents/pipe/link.hpp>

#include <sys/socket.h>

#include <algorithm>
#include <utility>

#include <agents/pipe/handshake.hpp>
#include <agents/pipe/transports/address.hpp>
#include <agents/pipe/transports/cma.hpp>
#include <distrun/common/base/error.hpp>
#include <distrun/common/base/if_memory.hpp>
#include <distrun/common/base/text.hpp>

namespace distrun::agents::pipe {
namespace {

// A peer that fell asleep this recently is likely to poll again soon, and needs no bell.
constexpr std::uint64_t kJustParkedNs = 20'000;
// Smallest stretches that the peer reads directly: a ring is faster for smaller ones, a socket is not.
constexpr std::size_t kCmaFromShm = 4 << 20, kCmaFromSocket = 64 << 10;

constexpr int kUnrungMax = 64;  // messages; a bell costs as much as a few of them

constexpr std::size_t kEndMax = 1024;  // bytes of the reason why a peer has left
constexpr char kCma[] = "cma";

std::string text_of(const wire::Bytes& bytes, std::size_t limit) {
  return std::string(reinterpret_cast<const char*>(bytes.data()), std::min(bytes.size(), limit));
}

}  // namespace

void Traffic::add_to(std::map<std::string, std::string>& info, const std::string& prefix,
                     const std::string& way) const {
  std::uint64_t all = kinds_[0].load();
  for (std::size_t kind = 1; kind < kinds_.size(); ++kind) {
    const std::uint64_t count = kinds_[kind].load();
    all += count;
    if (count == 0) continue;
    const char* const name = rpc::name_of(static_cast<rpc::MessageKind>(kind));
    info[prefix + "messages_" + way + "." + name] = std::to_string(count);
  }
  info[prefix + "messages_" + way] = std::to_string(all);
  info[prefix + "bytes_" + way] = std::to_string(bytes_.load());
}

Link::Link(rpc::WorkerInfo peer, std::string address, base::ByteBudget& budget)
    : peer_(std::move(peer)),
      address_(std::move(address)),
      queue_(budget),
      incoming_([this](std::uint64_t from, std::byte* to, std::size_t bytes) { read_peer(from, to, bytes); }) {}

Link::Sent Link::send(rpc::Message message, Limit limit) {
  const auto kind = static_cast<std::uint8_t>(message.kind);
  const std::uint64_t bytes = rpc::data_bytes_of(message);
  return send(OutgoingMessage(std::move(message), cma_from_), limit, kind, bytes);
}

// The id of such a message is the cause's rank + 1; 0: no cause.
Link::Sent Link::send_leave(const std::string& why, int because_of) {
  return send_own(kLeave, static_cast<std::uint64_t>(std::int64_t{because_of} + 1), why);
}

Link::Sent Link::send_own(std::uint8_t kind, std::uint64_t id, const std::string& text) {
  return send(OutgoingMessage::own(kind, id, text), Limit::None, kind, text.size());
}

Link::Sent Link::send(OutgoingMessage message, Limit limit, std::uint8_t kind, std::uint64_t bytes) {
  const std::lock_guard lock(writing_);
  if (why_) throw Error(*why_);
  queue_.check_room(limit, peer_.name());
  const bool is_cancel = kind == static_cast<std::uint8_t>(rpc::MessageKind::Cancel);
  if (is_cancel && !queue_.withdraw(message.id())) {
    end_locked(State::Lost, base::error_or_shortage(ErrorKind::Disconnected, [&] {
                 return Error(ErrorKind::Disconnected, "the connection to " + peer_.name() +
                                                           " has ended: a call that timed out was half sent, and there "
                                                           "is no memory to copy the rest");
               }));
    return Sent::Ended;
  }
  queue_.make_place();
  queue_.set_number(message);
  out_.count(kind, bytes);
  if (state() == State::Up && queue_.size() == 0 && write(message)) {
    if (message.is_read_by_peer()) queue_.keep(std::move(message));
    return Sent::Written;
  }
  queue_.add(std::move(message));
  if (state() == State::Idle) {
    state_.store(State::Connecting);
    return Sent::MustConnect;
  }
  // Tries again: a peer that has made room since may have checked for a queue before this one was visible.
  return state() == State::Up && write_queue() ? Sent::Written : Sent::Queued;
}

bool Link::begin_meeting() noexcept {
  const std::lock_guard lock(writing_);
  if (state() != State::Idle) return false;
  state_.store(State::Connecting);
  return true;
}

// Ignores errors: the reason may still be in the stream; the thread that reads it, or the end, ends the link.
bool Link::write(OutgoingMessage& message) noexcept {
  try {
    return message.write_to(*stream_);
  } catch (const std::exception&) {
    return false;
  }
}

void Link::forget_kept() noexcept {
  if (seal_ != nullptr) seal_->break_now();
  if (stream_ != nullptr) stream_->leave();
  // A peer that polls no ring learns of the end by the socket, which stays open until the link is closed.
  if (socket_) ::shutdown(socket_.get(), SHUT_RDWR);
  queue_.clear();
}

bool Link::write_queue() noexcept {
  while (queue_.size() != 0 && write(queue_.first())) queue_.take_first();
  queue_.show();
  return queue_.size() == 0;
}

bool Link::flush() noexcept {
  const std::unique_lock lock(writing_, std::try_to_lock);
  if (!lock || state() != State::Up) return false;
  const std::size_t before = queue_.size();
  const bool is_empty = write_queue();
  if (before != 0) stream_->ring();
  return is_empty;
}

bool Link::begin(Connection connection, std::unique_ptr<Stream> stream) {
  const std::lock_guard reading(reading_);
  const std::lock_guard writing(writing_);
  if (why_) return false;
  if (connection.proved) queue_.make_place();
  stream_ = std::move(stream);
  auto* const shm = dynamic_cast<ShmStream*>(stream_.get());
  process_.meet(connection.peer_pid, connection.transport != "tcp");
  transport_ = std::move(connection.transport);
  channels_ = std::move(connection.channels);
  not_taken_ = std::move(connection.not_taken);
  if (shm != nullptr) socket_ = std::move(connection.socket);
  seal_ = std::move(connection.seal);
  peer_seal_ = connection.peer_seal;
  may_read_peer_ = std::erase(channels_, kCma) != 0;
  is_to_be_proved_ = may_read_peer_ && !connection.is_connector;
  shm_.store(shm);
  if (connection.proved) {
    const std::string& why = *connection.proved;
    queue_.add_first(OutgoingMessage::own(kProved, why.empty() ? 1 : 0, why));
    out_.count(kProved, why.size());
    if (why.empty()) take_channel();
  }
  state_.store(State::Up);
  write_queue();
  stream_->ring();
  return true;
}

// Called when both ends can read each other.
void Link::take_channel() {
  if (std::find(channels_.begin(), channels_.end(), kCma) == channels_.end()) channels_.emplace_back(kCma);
  cma_from_ = shm_.load() != nullptr ? kCmaFromShm : kCmaFromSocket;
}

void Link::take_proof(const rpc::Message& message) {
  const std::lock_guard lock(writing_);
  if (!std::exchange(is_to_be_proved_, false)) return;
  if (message.id != 0) return take_channel();
  not_taken_.push_back({kCma, "the peer cannot read this worker's memory: " +
                                  base::one_line(text_of(message.payload, kEndMax), kOfferTextMax)});
}

void Link::drain(Delivery& delivery) noexcept {
  const std::lock_guard lock(reading_);
  if (stream_ == nullptr || is_closed_) return;
  try {
    while (!is_over()) {
      auto arrived = incoming_.next(*stream_);
      if (!arrived) return;
      handle(delivery, std::move(*arrived));
    }
  } catch (const std::exception&) {
    return;  // the stream has ended
  }
}

void Link::close() noexcept {
  const std::lock_guard reading(reading_);
  const std::lock_guard writing(writing_);
  is_closed_ = true;
  const auto over = [] { return Error(ErrorKind::Disconnected, "RPC is no longer running on this node"); };
  if (!why_) why_ = base::if_memory(over, [] { return base::out_of_memory(ErrorKind::Disconnected); });
  is_end_told_ = true;
  state_.store(State::Left);
  forget_kept();
}

int Link::read(Delivery& delivery, int most) noexcept {
  const std::unique_lock lock(reading_, std::try_to_lock);
  if (!lock || stream_ == nullptr || is_closed_ || is_over()) return 0;
  int count = 0;
  try {
    for (; count < most && !is_over(); ++count) {
      auto arrived = incoming_.next(*stream_);
      if (!arrived) break;
      handle(delivery, std::move(*arrived));
    }
  } catch (const Error& why) {
    end(State::Lost, process_.gone(why.text()));
    return count + 1;
  } catch (const std::exception& why) {  // no memory for what the peer sends
    give_up(base::if_memory(
        [&] { return Error(ErrorKind::Failed, "data from " + peer_.name() + " cannot be received: " + why.what()); },
        [] { return base::out_of_memory(ErrorKind::Failed); }));
    return count + 1;
  }
  return count;
}

void Link::handle(Delivery& delivery, IncomingMessages::Arrived arrived) noexcept {
  in_.count(arrived.kind, rpc::data_bytes_of(arrived.message));
  if (arrived.was_read_from_peer) {
    try {
      send_own(kRelease, arrived.number);
      ring();
    } catch (const Error&) {  // the peer is gone, and so is its memory
    } catch (const std::exception&) {
      return give_up(base::out_of_memory(ErrorKind::Failed));
    }
  }
  try {
    take(delivery, std::move(arrived));
  } catch (const std::exception&) {
    give_up(base::out_of_memory(ErrorKind::Failed));
  }
}

void Link::take(Delivery& delivery, IncomingMessages::Arrived arrived) {
  switch (arrived.kind) {
    case kRelease: return release(arrived.message.id);
    case kProved: return take_proof(arrived.message);
    case kLeave: {
      const std::string text = text_of(arrived.message.payload, kEndMax);
      Error why(ErrorKind::Disconnected,
                peer_.name() + " has left: " + (text.empty() ? "it has closed its agent" : text));
      if (arrived.message.id - 1 < std::uint64_t{kRanksMost}) why.with_cause(static_cast<int>(arrived.message.id - 1));
      end(State::Left, std::move(why));
      return;
    }
    default:
      if (arrived.kind < static_cast<std::uint8_t>(rpc::MessageKind::Call) ||
          arrived.kind > static_cast<std::uint8_t>(rpc::kLastMessageKind)) {
        return;  // of a newer protocol, which changes the version where that matters
      }
      arrived.message.kind = static_cast<rpc::MessageKind>(arrived.kind);
      delivery.deliver(peer_, std::move(arrived.message));
  }
}

void Link::release(std::uint64_t number) noexcept {
  std::list<OutgoingMessage> gone;  // destroyed without the lock
  const std::lock_guard lock(writing_);
  gone = queue_.release(number);
}

void Link::read_peer(std::uint64_t address, std::byte* to, std::size_t bytes) const {
  if (!may_read_peer_) {
    throw Error(ErrorKind::InvalidArgument, "it requires a direct read of its memory, which was not negotiated");
  }
  const std::int32_t pid = process_.met_pid();
  read_remote(pid, address, to, bytes);
  if (why_broken(pid, peer_seal_).empty()) return;
  throw Error(ErrorKind::Disconnected, "it closed the connection while its memory was being read");
}

void Link::ring() noexcept {
  owes_bell_.store(false, std::memory_order_relaxed);
  unrung_.store(0, std::memory_order_relaxed);
  if (ShmStream* const shm = shm_.load(std::memory_order_acquire)) shm->ring();
}

void Link::owe_bell() noexcept {
  if (unrung_.fetch_add(1, std::memory_order_relaxed) >= kUnrungMax) return ring();
  owes_bell_.store(true, std::memory_order_relaxed);
}

void Link::ring_later() noexcept {
  ShmStream* const shm = shm_.load(std::memory_order_acquire);
  if (shm == nullptr || !shm->peer_door().is_parked()) return;
  // A peer may report any time: one in the future wraps around, and counts as long ago.
  const auto parked_for =
      static_cast<std::uint64_t>(monotonic_ns()) - static_cast<std::uint64_t>(shm->peer_door().parked_at_ns());
  if (parked_for > kJustParkedNs) return shm->ring();
  owes_bell_.store(true, std::memory_order_relaxed);
}

void Link::pay_bell() noexcept {
  if (owes_bell_.exchange(false)) ring();
}

void Link::add_debug_info(std::map<std::string, std::string>& info) const {
  const std::string prefix = "pipe." + peer_.name() + ".";
  in_.add_to(info, prefix, "in");
  out_.add_to(info, prefix, "out");
  const std::lock_guard lock(writing_);
  info[prefix + "transport"] = transport_;
  std::string channels = "inline";
  for (const std::string& each : channels_) channels += ", " + each;
  info[prefix + "channels"] = channels;
  for (const NotTaken& each : not_taken_) info[prefix + "not_taken." + each.name] = each.why;
  info[prefix + "queued"] = std::to_string(queue_.size());
  if (why_) info[prefix + "over"] = why_->text();
}

}  // namespace distrun::agents::pipe
