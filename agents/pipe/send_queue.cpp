#include <agents/pipe/send_queue.hpp>

#include <algorithm>
#include <utility>

#include <distrun/common/base/error.hpp>

namespace distrun::agents::pipe {

// Messages without a limit are small, or few.
void SendQueue::check_room(Limit limit, const std::string& peer) const {
  if (limit == Limit::None || (limit == Limit::Call && has_room())) return;
  if (limit == Limit::Reply && bytes_ < kReplyBytesMax && is_in_budget()) return;
  std::string text = "too much data is in flight to " + peer + ", which does not read it: " + std::to_string(size_) +
                     " messages, " + std::to_string(bytes_) + " bytes";
  if (!is_in_budget()) {
    text += " of " + std::to_string(budget_.bytes()) + " to all workers, at most " + std::to_string(budget_.most()) +
            " may be";
  }
  throw Error(ErrorKind::Overloaded, text + (limit == Limit::Call ? "; wait for answers first" : ""));
}

void SendQueue::make_place() {
  if (spare_.empty()) spare_.emplace_back();
}

// Moves the message into the place that was made.
SendQueue::Place SendQueue::put(OutgoingMessage message) noexcept {
  spare_.front() = std::move(message);
  return spare_.begin();
}

void SendQueue::add(OutgoingMessage message) noexcept {
  bytes_ += message.queued_bytes();
  queue_.splice(queue_.end(), spare_, put(std::move(message)));
  size_ = queue_.size();
  has_queue_.store(true);
}

void SendQueue::add_first(OutgoingMessage message) noexcept {
  bytes_ += message.queued_bytes();
  queue_.splice(queue_.begin(), spare_, put(std::move(message)));
  size_ = queue_.size();
  next_number_ = 0;
  for (OutgoingMessage& each : queue_) set_number(each);
}

void SendQueue::keep(OutgoingMessage message) noexcept { keep(spare_, put(std::move(message))); }

void SendQueue::keep(std::list<OutgoingMessage>& from, Place message) noexcept {
  has_kept_.store(true);
  kept_.splice(kept_.end(), from, message);
}

// Calls mostly time out in the order in which they were made, so the search ends near the front.
bool SendQueue::withdraw(std::uint64_t call) noexcept {
  const auto found =
      std::find_if(queue_.begin(), queue_.end(), [call](const OutgoingMessage& each) { return each.is_call(call); });
  if (found == queue_.end()) return true;
  const std::uint64_t before = found->queued_bytes();
  const bool is_withdrawn = found->withdraw();
  bytes_ -= before - found->queued_bytes();
  return is_withdrawn;
}

void SendQueue::take_first() noexcept {
  const auto first = queue_.begin();
  bytes_ -= first->queued_bytes();
  if (first->is_read_by_peer()) {
    keep(queue_, first);
  } else {
    queue_.pop_front();
  }
  size_ = queue_.size();
}

std::list<OutgoingMessage> SendQueue::release(std::uint64_t number) noexcept {
  std::list<OutgoingMessage> gone;
  const auto found = std::ranges::find(kept_, number, &OutgoingMessage::number);
  if (found != kept_.end()) gone.splice(gone.end(), kept_, found);
  has_kept_.store(!kept_.empty());
  return gone;
}

void SendQueue::stop() noexcept {
  bytes_.clear();
  size_ = 0;
  has_queue_.store(false);
}

void SendQueue::clear() noexcept {
  queue_.clear();
  kept_.clear();
  has_kept_.store(false);
}

}  // namespace distrun::agents::pipe
