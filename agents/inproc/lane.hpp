#pragma once
// One direction between two workers: holds messages that were sent and not yet received. A sender that finds no thread
// emptying the lane empties it on its own thread, which runs as the receiver's rank meanwhile; so no thread has to wake
// up to hand a message over. A message sent from within a receiver waits until the thread has finished its current one:
// lanes do not nest.
//
//   waiting -> open -> closed      by the receiving end
//   ended                          when the sending end closes or is lost; received after all messages
//
// Thread-safe.
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>

#include <distrun/common/base/error.hpp>
#include <distrun/runtime/rpc/agent.hpp>

namespace distrun::core {
class RankState;
}

namespace distrun::agents::inproc {

class Lane final : public std::enable_shared_from_this<Lane> {
 public:
  // `rank` is the receiving rank.
  Lane(rpc::WorkerInfo from, rpc::WorkerInfo to, core::RankState& rank)
      : from_(std::move(from)), to_(std::move(to)), rank_(rank) {}
  Lane(const Lane&) = delete;
  Lane& operator=(const Lane&) = delete;

  const rpc::WorkerInfo& from() const noexcept { return from_; }
  // Throws Error{Overloaded} if too much is in the lane, or was received and waits for a thread, to take a message of
  // that kind. Only calls and replies are limited; all others are small or few.
  void check_room(rpc::MessageKind kind) const;
  // Returns whether there is room for a call.
  bool has_room() const noexcept;
  // Returns false if the lane is closed or has ended.
  bool push(rpc::Message message);
  // Ends the lane, once. The receiver gets `why` after all messages pushed before.
  void end(Error why) noexcept;
  // The end is not reported as a loss.
  void forgive();

  // `receiver` must stay until close() has returned; nothing is received after that. close() waits for a message that
  // is being received on another thread.
  void open(rpc::Receiver& receiver);
  void close() noexcept;

  struct Counts {
    std::uint64_t pushed = 0;
    std::uint64_t received = 0;
  };
  Counts counts() const;
  // Returns whether nothing can be received any more.
  bool is_over() const;

 private:
  friend class LaneTask;
  struct Held {
    rpc::Message message;
    std::uint64_t bytes = 0;
  };
  struct Load {
    std::uint64_t messages = 0;
    std::uint64_t bytes = 0;
    void add(std::uint64_t more) noexcept { ++messages, bytes += more; }
    void take(std::uint64_t less) noexcept { --messages, bytes -= less; }
  };

  // A list of lanes that a thread has claimed, and is going to empty. Takes no memory: without any, a lane that is
  // claimed would stay so.
  struct Claimed {
    void add(std::shared_ptr<Lane> lane) noexcept;
    std::shared_ptr<Lane> take_first() noexcept;
    std::shared_ptr<Lane> first;
    Lane* last = nullptr;
  };

  static void empty_soon(std::shared_ptr<Lane> lane) noexcept;
  void empty() noexcept;
  bool hand_over() noexcept;
  // These require mutex_, and unlock it for a while.
  template <class Receive>
  void as_receiver(std::unique_lock<std::mutex>& lock, Receive receive);
  void receive_first(std::unique_lock<std::mutex>& lock);
  void receive_end(std::unique_lock<std::mutex>& lock);
  void post(std::unique_ptr<future::HandlerTask> task, rpc::MessageKind of, std::uint64_t bytes) noexcept;
  // These require mutex_.
  bool has_room_for(rpc::MessageKind kind) const noexcept;
  bool has_work() const noexcept { return receiver_ != nullptr && (!held_.empty() || (end_ && !is_told_)); }
  bool claim() noexcept;

  const rpc::WorkerInfo from_;
  const rpc::WorkerInfo to_;
  core::RankState& rank_;
  std::shared_ptr<Lane> next_;  // in the list of the thread that has claimed it; used by that thread only
  mutable std::mutex mutex_;
  std::condition_variable done_;  // notified when a message was received
  // Guarded by mutex_.
  std::deque<Held> held_;
  Load in_lane_;                       // messages in held_
  Load in_pool_;                       // received messages with tasks that have not begun
  std::optional<Error> end_;           // set: ended
  rpc::Receiver* receiver_ = nullptr;  // set: open
  const void* receiving_ = nullptr;    // the ThreadState of the thread that is calling the receiver
  Counts counts_;
  bool is_closed_ = false;
  bool is_claimed_ = false;  // a thread empties the lane, or is about to
  bool is_told_ = false;     // its end was reported, or need not be
};

}  // namespace distrun::agents::inproc
