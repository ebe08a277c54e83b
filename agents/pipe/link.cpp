#include <agents/pipe/link.hpp>

#include <algorithm>
#include <utility>

#include <agents/pipe/transports/cma.hpp>
#include <distrun/common/base/error.hpp>

namespace distrun::agents::pipe {
namespace {

// Whoever fell asleep so recently is likely to look again soon, and does not have to be rung for.
constexpr std::uint64_t kJustParkedNs = 20'000;
// Stretches of memory that the peer reads by itself: through a ring smaller ones are quicker, through a socket not.
constexpr std::size_t kCmaFromShm = 4 << 20, kCmaFromSocket = 64 << 10;

constexpr std::size_t kEndMax = 1024;  // bytes of the reason why a peer has left

}  // namespace

Link::Link(rpc::WorkerInfo peer, std::string address)
    : peer_(std::move(peer)),
      address_(std::move(address)),
      incoming_([this](std::uint64_t from, std::byte* to, std::size_t bytes) { read_peer(from, to, bytes); }) {}

Link::Sent Link::send(rpc::Message message, bool is_limited) {
  return send(OutgoingMessage(std::move(message), cma_from_), is_limited);
}

Link::Sent Link::send_leave(const std::string& why) { return send(OutgoingMessage::own(kLeave, 0, why), false); }

Link::Sent Link::send(OutgoingMessage message, bool is_limited) {
  const std::lock_guard lock(writing_);
  if (why_) throw Error(*why_);
  if (is_limited && (queue_.size() >= kQueuedMax || queued_bytes_ >= kQueuedBytesMax)) {
    throw Error(ErrorKind::Overloaded, "too much is on its way to " + peer_.name() + ", which does not read it: " +
                                           std::to_string(queue_.size()) + " messages, " +
                                           std::to_string(queued_bytes_) + " bytes; wait for some answers first");
  }
  message.set_number(next_number_++);
  messages_out_.fetch_add(1, std::memory_order_relaxed);
  if (state() == State::Up && queue_.empty() && write(message)) {
    if (message.is_read_by_peer()) kept_.emplace(message.number(), std::move(message));
    return Sent::Written;
  }
  queued_bytes_ += message.queued_bytes();
  queue_.push_back(std::move(message));
  if (state() == State::Idle) {
    state_.store(State::Connecting);
    has_queue_.store(true);
    return Sent::MustConnect;
  }
  has_queue_.store(true);
  // Room that has come since is seen by nobody who looks for a queue before it was there.
  return state() == State::Up && write_queue() ? Sent::Written : Sent::Queued;
}

// A peer that does not read any more may have said why: whoever reads that, or the end, ends the link.
bool Link::write(OutgoingMessage& message) {
  try {
    return message.write_to(*stream_);
  } catch (const Error&) {
    return false;
  }
}

// What a peer reads by itself stays until it says that it has.
bool Link::write_queue() {
  while (!queue_.empty()) {
    OutgoingMessage& first = queue_.front();
    if (!write(first)) break;
    queued_bytes_ -= first.queued_bytes();
    if (first.is_read_by_peer()) kept_.emplace(first.number(), std::move(first));
    queue_.pop_front();
  }
  has_queue_.store(!queue_.empty());
  return queue_.empty();
}

bool Link::flush() noexcept {
  const std::unique_lock lock(writing_, std::try_to_lock);
  if (!lock || state() != State::Up) return false;
  const std::size_t before = queue_.size();
  const bool is_empty = write_queue();
  if (before != 0) stream_->ring();
  return is_empty;
}

void Link::begin(Connection connection, std::unique_ptr<Stream> stream) {
  const std::lock_guard reading(reading_);
  const std::lock_guard writing(writing_);
  if (why_) return;
  stream_ = std::move(stream);
  auto* const shm = dynamic_cast<ShmStream*>(stream_.get());
  peer_pid_.store(connection.peer_pid);
  transport_ = std::move(connection.transport);
  channels_ = std::move(connection.channels);
  not_taken_ = std::move(connection.not_taken);
  if (shm != nullptr) socket_ = std::move(connection.socket);
  if (std::find(channels_.begin(), channels_.end(), "cma") != channels_.end()) {
    cma_from_ = shm != nullptr ? kCmaFromShm : kCmaFromSocket;
  }
  shm_.store(shm);
  state_.store(State::Up);
  write_queue();
  stream_->ring();
}

bool Link::end(State state, const Error& why) noexcept {
  const std::lock_guard lock(writing_);
  return end_locked(state, why);
}

void Link::dismiss(const Error& why) noexcept {
  const std::lock_guard lock(writing_);
  is_end_told_ = true;
  end_locked(State::Left, why);
}

bool Link::end_locked(State state, const Error& why) noexcept {
  if (why_) return false;
  why_ = why;
  state_.store(state);
  queue_.clear();
  kept_.clear();
  queued_bytes_ = 0;
  has_queue_.store(false);
  return true;
}

std::optional<Error> Link::take_end() noexcept {
  const std::lock_guard lock(writing_);
  if (!why_ || std::exchange(is_end_told_, true)) return std::nullopt;
  return why_;
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
    return;  // it is the end
  }
}

void Link::close() noexcept {
  const std::lock_guard reading(reading_);
  const std::lock_guard writing(writing_);
  is_closed_ = true;
  if (stream_ != nullptr) stream_->leave();
  if (!why_) why_ = Error(ErrorKind::Disconnected, "RPC is no longer running on this node");
  is_end_told_ = true;
  state_.store(State::Left);
  queue_.clear();
  kept_.clear();
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
    Error told(ErrorKind::Disconnected, peer_.name() + " is gone: " + why.text());
    end(State::Lost, told);
    return count + 1;
  } catch (const std::exception& why) {  // no memory for what it says that it sends
    end(State::Lost, Error(ErrorKind::Disconnected, "what " + peer_.name() + " sends can't be taken: " + why.what()));
    return count + 1;
  }
  return count;
}

void Link::handle(Delivery& delivery, IncomingMessages::Arrived arrived) noexcept {
  messages_in_.fetch_add(1, std::memory_order_relaxed);
  if (arrived.was_read_from_peer) {
    try {
      send(OutgoingMessage::own(kRelease, arrived.number), false);
      ring();
    } catch (const Error&) {  // it is gone, and so is its memory
    }
  }
  switch (arrived.kind) {
    case kRelease: return release(arrived.message.id);
    case kLeave: {
      const auto& why = arrived.message.payload;
      const std::string text(reinterpret_cast<const char*>(why.data()), std::min(why.size(), kEndMax));
      end(State::Left, Error(ErrorKind::Disconnected,
                             peer_.name() + " has left: " + (text.empty() ? "it has closed its agent" : text)));
      return;
    }
    default:
      if (arrived.kind < static_cast<std::uint8_t>(rpc::MessageKind::Call) ||
          arrived.kind > static_cast<std::uint8_t>(rpc::MessageKind::Control)) {
        return;  // of a younger protocol, which says by the version where that matters
      }
      arrived.message.kind = static_cast<rpc::MessageKind>(arrived.kind);
      delivery.deliver(peer_, std::move(arrived.message));
  }
}

void Link::release(std::uint64_t number) {
  std::map<std::uint64_t, OutgoingMessage>::node_type gone;  // goes without the lock
  const std::lock_guard lock(writing_);
  gone = kept_.extract(number);
}

void Link::read_peer(std::uint64_t address, std::byte* to, std::size_t bytes) const {
  read_remote(peer_pid_.load(), address, to, bytes);
}

void Link::ring() noexcept {
  owes_bell_.store(false, std::memory_order_relaxed);
  if (ShmStream* const shm = shm_.load(std::memory_order_acquire)) shm->ring();
}

void Link::ring_later() noexcept {
  ShmStream* const shm = shm_.load(std::memory_order_acquire);
  if (shm == nullptr || !shm->peer_door().is_parked()) return;
  // Whatever a peer says of its clock: what lies ahead is long ago.
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
  info[prefix + "messages_in"] = std::to_string(messages_in_.load());
  info[prefix + "messages_out"] = std::to_string(messages_out_.load());
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
