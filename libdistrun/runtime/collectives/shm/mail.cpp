#include <distrun/runtime/collectives/shm/mail.hpp>

#include <algorithm>
#include <cstring>
#include <string>

#include <distrun/common/base/error.hpp>
#include <distrun/runtime/collectives/explain.hpp>
#include <distrun/runtime/collectives/shm/exchange_failure.hpp>

namespace distrun::collectives::shm {
namespace {

// Returns the bytes that a kept message takes.
std::size_t cost_of(const MessageHeader& head) { return sizeof(Arrived) + (carries_bytes(head) ? head.size : 0); }

ReadOffer offer_of(const MessageHeader& head) { return {head.read_index, head.read_word}; }

std::string text_of(DType dtype, std::uint64_t bytes) {
  return std::to_string(bytes / tensor::size_of(dtype)) + " elements of " + std::string(tensor::name_of(dtype));
}

}  // namespace

class Mail::Sending final : public Transfer {
 public:
  Sending(std::shared_ptr<Mail> mail, const PointToPoint& message, ConstBytes bytes)
      : mail_(std::move(mail)), message_(message), bytes_(bytes) {}
  ~Sending() override { take_back(); }
  Sending(const Sending&) = delete;
  Sending& operator=(const Sending&) = delete;

  int finish(base::TimePoint deadline) override {
    const std::function<std::vector<int>()> missing = [this] { return std::vector<int>{message_.peer}; };
    const std::string name = "to rank " + std::to_string(mail_->group_.ranks[static_cast<std::size_t>(message_.peer)]);
    board::WaitInfo info;
    info.kind = board::WaitKind::Send;
    info.name = name;
    info.rule = board::PeerRule::All;
    info.id = message_.tag;
    info.site = message_.site;
    const core::WaitEnd end =
        mail_->bells_.wait({info, deadline, missing}, [&] { return is_settled() || mail_->is_over(); });
    if (!take_back()) mail_->end_wait(end, message_, true);
    return message_.peer;
  }

 private:
  friend class Mail;

  // Returns true if the message is done or can never be.
  bool is_settled() {
    const std::lock_guard lock(mail_->mutex_);
    mail_->put_all_queued();
    if (in_box_ && (offer_ ? mail_->reads_.is_fetched(*offer_) : has_arrived())) return true;
    if (offer_ && mail_->reads_.is_broken(*offer_))
      mail_->boxes_.refuse(message_.peer, "it has changed the state of a message sent to it");
    return mail_->has_gone(message_.peer);
  }

  // Ends all access to the bytes. Returns true if they have reached the receiver.
  bool take_back() {
    std::unique_lock lock(mail_->mutex_);
    if (is_back_) return was_done_;
    is_back_ = true;
    if (!in_box_) std::erase(mail_->queued_[static_cast<std::size_t>(message_.peer)], this);
    lock.unlock();
    const bool is_read = offer_ ? mail_->reads_.end(*offer_, message_.peer) : has_arrived();
    return was_done_ = in_box_ && is_read;
  }

  // A large message to another host is done when it has been taken, as one that is read from this rank's memory is.
  bool has_arrived() const { return sent_ == 0 || mail_->boxes_.taken_by(message_.peer) >= sent_; }

  const std::shared_ptr<Mail> mail_;
  const PointToPoint message_;
  const ConstBytes bytes_;
  // Guarded by the mail's lock.
  bool in_box_ = false;
  std::optional<ReadOffer> offer_;  // nothing: the message carries its bytes
  std::uint64_t sent_ = 0;          // the number of a message whose bytes are Sent; 0: of another kind
  std::unique_ptr<core::SharedMemory> shared_;
  bool is_back_ = false;
  bool was_done_ = false;
};

class Mail::Receiving final : public Transfer {
 public:
  Receiving(std::shared_ptr<Mail> mail, const PointToPoint& message, Bytes bytes)
      : mail_(std::move(mail)), message_(message), bytes_(bytes) {}
  ~Receiving() override {
    const std::lock_guard lock(mail_->mutex_);
    mail_->posted_.remove(this);
  }
  Receiving(const Receiving&) = delete;
  Receiving& operator=(const Receiving&) = delete;

  int finish(base::TimePoint deadline) override {
    const std::function<std::vector<int>()> missing = [this] { return mail_->awaited(message_.peer); };
    const std::string name = message_.peer < 0 ? "from any" : "from " + ranks_text(mail_->group_, {message_.peer});
    board::WaitInfo info;
    info.kind = board::WaitKind::Receive;
    info.name = name;
    info.rule = message_.peer < 0 ? board::PeerRule::Any : board::PeerRule::All;
    info.id = message_.tag;
    info.site = message_.site;
    const core::WaitEnd end =
        mail_->bells_.wait({info, deadline, missing}, [&] { return is_settled() || mail_->is_over(); });
    if (!is_matched()) mail_->end_wait(end, message_, false);
    read();
    return arrived_->from;
  }

 private:
  friend class Mail;

  bool is_matched() {
    const std::lock_guard lock(mail_->mutex_);
    return match();
  }
  // Returns true if the receive is matched or can never be.
  bool is_settled() {
    const std::lock_guard lock(mail_->mutex_);
    return match() || is_hopeless();
  }
  bool match() {
    if (is_claimed_) return true;
    mail_->put_all_queued();
    if (!arrived_) mail_->take_arrived();
    while (arrived_ && !is_claimed_) {
      is_claimed_ = mail_->claim(*arrived_);
      if (!is_claimed_) mail_->match_again(*this);
    }
    return is_claimed_;
  }
  // Returns true if all possible senders have gone.
  bool is_hopeless() const {
    if (message_.peer >= 0) return mail_->has_gone(message_.peer);
    for (int rank = 0; rank < mail_->group_.size(); ++rank) {
      if (rank != mail_->group_.rank && !mail_->has_gone(rank)) return false;
    }
    return true;
  }
  void check_size() const {
    const MessageHeader& head = arrived_->head;
    if (head.size == bytes_.size() && head.dtype == message_.dtype) return;
    throw Error(ErrorKind::InvalidArgument, "DistBackendError",
                ranks_text(mail_->group_, {arrived_->from}) + " has sent " + text_of(head.dtype, head.size) + " (tag " +
                    std::to_string(message_.tag) + "), " + ranks_text(mail_->group_, {mail_->group_.rank}) + " takes " +
                    text_of(message_.dtype, bytes_.size()),
                message_.site);
  }
  void fetch();
  void read();

  const std::shared_ptr<Mail> mail_;
  const PointToPoint message_;
  const Bytes bytes_;
  std::optional<Arrived> arrived_;  // guarded by the mail's lock until it is claimed
  bool is_claimed_ = false;         // guarded by the mail's lock
};

void Mail::Receiving::fetch() {
  const MessageHeader& head = arrived_->head;
  if (head.size != bytes_.size() || head.dtype != message_.dtype) return;
  if (head.carriage == Carriage::Fetched) {
    mail_->memory_.read(arrived_->from, head.address, bytes_.data(), bytes_.size());
    return;
  }
  if (head.memory.pid != mail_->area_->pid_of(arrived_->from)) {
    throw_broken(mail_->group_, arrived_->from,
                 "it shows memory of process " + std::to_string(head.memory.pid) + ", which is another process",
                 message_.site);
  }
  const core::SharedMemory shared(head.memory, bytes_.size());
  std::memcpy(bytes_.data(), shared.data(), bytes_.size());
}

// A message that does not fit, or cannot be read, counts as taken: its sender has done its part.
void Mail::Receiving::read() {
  if (carries_bytes(arrived_->head)) {
    check_size();
    if (!bytes_.empty()) std::memcpy(bytes_.data(), arrived_->inside.data(), bytes_.size());
    return;
  }
  const auto give_back = [this] {
    const bool counts = mail_->reads_.give_back(arrived_->from, offer_of(arrived_->head));
    mail_->bells_.ring(arrived_->from);
    return counts;
  };
  try {
    fetch();
  } catch (Error& error) {
    give_back();
    error.while_doing("a message of " + ranks_text(mail_->group_, {arrived_->from}));
    throw;
  }
  if (!give_back()) {
    throw Error(ErrorKind::Timeout, "DistBackendError",
                "a receive from " + ranks_text(mail_->group_, {arrived_->from}) + " in group " + mail_->group_.name +
                    " took so long to read the message that the sender withdrew it",
                message_.site);
  }
  check_size();
}

Mail::Mail(std::shared_ptr<Area> area, const GroupInfo& group, const Bells& bells)
    : area_(std::move(area)),
      group_(group),
      bells_(bells),
      memory_(area_),
      reads_(area_, group.rank),
      queued_(group.ranks.size()),
      kept_(group.ranks.size()),
      boxes_(area_, group) {}

std::unique_ptr<Transfer> Mail::send(const PointToPoint& message, ConstBytes bytes) {
  auto sending = std::make_unique<Sending>(shared_from_this(), message, bytes);
  const std::lock_guard lock(mutex_);
  queued_[static_cast<std::size_t>(message.peer)].push_back(sending.get());
  put_queued(message.peer);
  return sending;
}

std::unique_ptr<Transfer> Mail::receive(const PointToPoint& message, Bytes bytes) {
  auto receiving = std::make_unique<Receiving>(shared_from_this(), message, bytes);
  const std::lock_guard lock(mutex_);
  post(*receiving, false);
  return receiving;
}

// Makes the receive first in line for another message, after the sender withdrew this one.
void Mail::match_again(Receiving& receiving) {
  receiving.arrived_.reset();
  post(receiving, true);
}

void Mail::post(Receiving& receiving, bool is_first) {
  const PointToPoint& wants = receiving.message_;
  const auto found = std::find_if(unwanted_.begin(), unwanted_.end(), [&](const Arrived& each) {
    return each.head.tag == wants.tag && (wants.peer < 0 || wants.peer == each.from);
  });
  if (found == unwanted_.end()) {
    posted_.insert(is_first ? posted_.begin() : posted_.end(), &receiving);
    return;
  }
  const int from = found->from;
  kept_[static_cast<std::size_t>(from)].bytes -= cost_of(found->head);
  receiving.arrived_ = std::move(*found);
  unwanted_.erase(found);
  if (kept_[static_cast<std::size_t>(from)].is_full) take_from(from);
}

// Returns true if the sender leaves the bytes in place from now on; false if it has withdrawn them.
bool Mail::claim(const Arrived& message) const {
  return carries_bytes(message.head) || reads_.claim(message.from, offer_of(message.head));
}

// Called by every waiting thread: the peer it waits for may itself wait for one of these messages.
void Mail::put_all_queued() {
  for (int to = 0; to < group_.size(); ++to) put_queued(to);
}

void Mail::put_queued(int to) {
  std::deque<Sending*>& queue = queued_[static_cast<std::size_t>(to)];
  bool any = false;
  while (!queue.empty() && put(*queue.front())) {
    queue.pop_front();
    any = true;
  }
  if (any) bells_.ring(to);
}

bool Mail::put(Sending& sending) {
  const int to = sending.message_.peer;
  MessageSlot* const room = boxes_.room(to);
  if (room == nullptr) return false;
  MessageSlot& shown = *room;
  shown.head.tag = sending.message_.tag;
  shown.head.size = sending.bytes_.size();
  shown.head.dtype = sending.message_.dtype;
  shown.head.carriage = Carriage::Inside;
  const bool is_large = sending.bytes_.size() > kLetterRoom;
  if (is_large && area_->is_mirrored()) {
    if (boxes_.taken_by(to) != boxes_.sent_to(to)) return false;  // one at a time is in flight
    shown.head.carriage = Carriage::Sent;
  } else if (is_large) {
    if (!offer(sending, shown.head)) return false;
  } else if (!sending.bytes_.empty()) {
    std::memcpy(shown.inside.data(), sending.bytes_.data(), sending.bytes_.size());
  }
  sending.in_box_ = true;
  if (shown.head.carriage == Carriage::Sent) sending.sent_ = boxes_.sent_to(to) + 1;
  boxes_.send(to, shown.head.carriage == Carriage::Sent ? sending.bytes_ : ConstBytes());
  return true;
}

bool Mail::offer(Sending& sending, MessageHeader& shown) {
  if (!sending.offer_) sending.offer_ = reads_.offer();
  if (!sending.offer_) return false;
  shown.read_word = sending.offer_->word;
  shown.read_index = sending.offer_->place;
  if (may_fetch_) {
    shown.carriage = Carriage::Fetched;
    shown.address = reinterpret_cast<std::uint64_t>(sending.bytes_.data());
  } else {
    sending.shared_ = std::make_unique<core::SharedMemory>("a message", sending.bytes_.size());
    std::memcpy(sending.shared_->data(), sending.bytes_.data(), sending.bytes_.size());
    shown.carriage = Carriage::Shared;
    shown.memory = sending.shared_->address();
  }
  return true;
}

Mail::Receiving* Mail::wanting(int from, std::uint64_t tag) const {
  const auto found = std::find_if(posted_.begin(), posted_.end(), [&](const Receiving* each) {
    return each->message_.tag == tag && (each->message_.peer < 0 || each->message_.peer == from);
  });
  return found != posted_.end() ? *found : nullptr;
}

// Returns true if the rank sends and takes nothing any more, or has sent impossible data.
bool Mail::has_gone(int rank) const {
  return area_->seat(rank).presence.load() != Presence::Here || !boxes_.why_refused(rank).empty();
}

// After a rank has gone, everything in its box is taken, as no sender waits.
bool Mail::may_keep(int from, const MessageHeader& head) {
  const bool is_last = area_->seat(from).presence.load() != Presence::Here;
  const std::size_t most = kKeptMost + (is_last ? kMessages * (sizeof(Arrived) + kLetterRoom) : 0);
  Kept& kept = kept_[static_cast<std::size_t>(from)];
  kept.is_full = kept.bytes + cost_of(head) > most;
  return !kept.is_full;
}

void Mail::keep(Arrived message) {
  kept_[static_cast<std::size_t>(message.from)].bytes += cost_of(message.head);
  unwanted_.push_back(std::move(message));
}

void Mail::take_arrived() {
  for (int from = 0; from < group_.size(); ++from) take_from(from);
}

void Mail::take_from(int from) {
  bool any = false;
  kept_[static_cast<std::size_t>(from)].is_full = false;
  while (const std::optional<MessageHeader> head = boxes_.look(from)) {
    Receiving* const wanted = wanting(from, head->tag);
    if (wanted == nullptr && !may_keep(from, *head)) break;
    Arrived message = boxes_.take(from, *head);
    any = true;
    if (wanted != nullptr) {
      posted_.remove(wanted);
      wanted->arrived_ = std::move(message);
      bells_.ring(group_.rank);  // the receive may be another thread's
    } else {
      keep(std::move(message));
    }
  }
  if (!any) return;
  boxes_.show_taken(from);
  bells_.ring(from);
}

}  // namespace distrun::collectives::shm
