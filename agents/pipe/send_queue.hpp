#pragma once
// The messages that a link has to write, and those that its peer has yet to read out of this process (channel "cma"). A
// message moves between the lists in its place, which is made before it gets its number: nothing can fail afterwards.
//
// Guarded by the link's lock, except for the functions that say so.
#include <atomic>
#include <list>
#include <string>

#include <distrun/common/base/byte_budget.hpp>
#include <distrun/common/base/memory_share.hpp>

#include <agents/pipe/message_stream.hpp>

namespace distrun::agents::pipe {

class SendQueue {
 public:
  // The budget of all links of this process: a quarter of the machine's memory.
  static base::ByteBudget& budget_of_process() noexcept {
    static base::ByteBudget budget(base::quarter_of_memory());
    return budget;
  }

  // Selects how much may be queued before a message is refused.
  enum class Limit : std::uint8_t { Call, Reply, None };

  explicit SendQueue(base::ByteBudget& budget) noexcept : budget_(budget), bytes_(budget) {}

  // Thread-safe: whether there is room for a call, and whether there are messages to be written, or to be read.
  bool has_room() const noexcept { return bytes_ < kCallBytesMax && size_ < kCallsMax && is_in_budget(); }
  bool has_queue() const noexcept { return has_queue_.load(std::memory_order_acquire); }
  bool has_kept() const noexcept { return has_kept_.load(std::memory_order_acquire); }

  // Throws Error{Overloaded} with the peer's name if too much is queued for this message.
  void check_room(Limit limit, const std::string& peer) const;
  // Call before the functions that take a message. Throws std::bad_alloc.
  void make_place();
  void set_number(OutgoingMessage& message) noexcept { message.set_number(next_number_++); }
  void add(OutgoingMessage message) noexcept;
  // Inserts before all queued messages, none of which has been written, and numbers them again.
  void add_first(OutgoingMessage message) noexcept;
  // Keeps a message that has been written at once, until the peer has read it.
  void keep(OutgoingMessage message) noexcept;
  // Withdraws a queued call that has timed out. Returns false if nothing more can be written: a part of it was, and
  // there is no memory for the rest.
  [[nodiscard]] bool withdraw(std::uint64_t call) noexcept;

  std::size_t size() const noexcept { return queue_.size(); }
  OutgoingMessage& first() noexcept { return queue_.front(); }
  // The first message is written.
  void take_first() noexcept;
  // Shows to other threads whether messages are left to be written.
  void show() noexcept { has_queue_.store(!queue_.empty()); }
  // The peer has read this message. Returns it, to be destroyed without the lock.
  std::list<OutgoingMessage> release(std::uint64_t number) noexcept;
  // Nothing is written any more: the queue counts, and shows, as empty.
  void stop() noexcept;
  // Frees all messages.
  void clear() noexcept;

 private:
  using Place = std::list<OutgoingMessage>::iterator;
  // Bytes, including tensors, and calls.
  static constexpr std::uint64_t kCallBytesMax = 256 << 20, kReplyBytesMax = std::uint64_t{1} << 30;
  static constexpr std::size_t kCallsMax = 100'000;
  // Each queue may have that much, also if the budget is used up. As much may be in flight before callers ask for room.
  static constexpr std::uint64_t kAlwaysBytes = 16 << 20;

  bool is_in_budget() const noexcept { return bytes_ < kAlwaysBytes || budget_.has_room(); }
  Place put(OutgoingMessage message) noexcept;
  void keep(std::list<OutgoingMessage>& from, Place message) noexcept;

  const base::ByteBudget& budget_;
  std::list<OutgoingMessage> spare_;  // at most one empty place
  std::list<OutgoingMessage> queue_;
  std::list<OutgoingMessage> kept_;  // until the peer has read them
  base::CountedBytes bytes_;
  std::atomic<std::size_t> size_{0};
  std::atomic<bool> has_queue_{false};
  std::atomic<bool> has_kept_{false};
  std::uint64_t next_number_ = 0;
};

}  // namespace distrun::agents::pipe
