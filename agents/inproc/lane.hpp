#pragma once
// One direction between two workers: what one has sent, and the other has not received yet. Whoever puts something into
// a lane that nobody empties does it, on the sender's thread, which is the receiver's for that long; so no thread has
// to wake up to hand a message over. A message that is sent from within waits until the thread is done with the one
// that it is at: lanes do not nest.
//
//   waiting -> open -> closed      by the end that receives
//   ended                          by the end that sends, or by its going: the last that is received
//
// Any thread.
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
  // `rank` is the one that receives.
  Lane(rpc::WorkerInfo from, rpc::WorkerInfo to, core::RankState& rank)
      : from_(std::move(from)), to_(std::move(to)), rank_(rank) {}
  Lane(const Lane&) = delete;
  Lane& operator=(const Lane&) = delete;

  const rpc::WorkerInfo& from() const noexcept { return from_; }
  // Throws Error{Overloaded} if too much is in the lane, or was received and waits for a thread, for a message of that
  // kind: calls and replies are limited, all others are small or few.
  void check_room(rpc::MessageKind kind) const;
  // Returns whether there is room for a call.
  bool has_room() const noexcept;
  // False: it is closed, or has ended.
  bool push(rpc::Message message);
  // Once; `why` is told to the receiver after all that was pushed before.
  void end(Error why);
  // The end is nobody's loss.
  void forgive();

  // `receiver` must stay until close() has returned, from which on nothing is received. Waits for a message that is
  // being received, but not for itself.
  void open(rpc::Receiver& receiver);
  void close() noexcept;

  struct Counts {
    std::uint64_t pushed = 0;
    std::uint64_t received = 0;
  };
  Counts counts() const;
  // Nothing is received any more, now or later.
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

  static void empty_soon(std::shared_ptr<Lane> lane);
  void empty() noexcept;
  bool hand_over() noexcept;
  // With the lock held; these give it up for a while.
  template <class Receive>
  void as_receiver(std::unique_lock<std::mutex>& lock, Receive receive);
  void receive_first(std::unique_lock<std::mutex>& lock);
  void receive_end(std::unique_lock<std::mutex>& lock);
  void post(std::unique_ptr<future::HandlerTask> task, rpc::MessageKind of, std::uint64_t bytes);
  // With the lock held.
  bool has_room_for(rpc::MessageKind kind) const noexcept;
  bool has_work() const noexcept { return receiver_ != nullptr && (!held_.empty() || (end_ && !is_told_)); }
  bool claim() noexcept;

  const rpc::WorkerInfo from_;
  const rpc::WorkerInfo to_;
  core::RankState& rank_;
  mutable std::mutex mutex_;
  std::condition_variable done_;  // with the message that was being received
  // Guarded by mutex_.
  std::deque<Held> held_;
  Load in_lane_;                       // what is in held_
  Load in_pool_;                       // what was received and has not begun
  std::optional<Error> end_;           // ended
  rpc::Receiver* receiver_ = nullptr;  // open
  const void* receiving_ = nullptr;    // the state of the thread that is in the receiver
  Counts counts_;
  bool is_closed_ = false;
  bool is_claimed_ = false;  // somebody empties it, or is about to
  bool is_told_ = false;     // its end was received, or need not be
};

}  // namespace distrun::agents::inproc
