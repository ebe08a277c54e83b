#pragma once
// What an agent has for one peer: a stream, once they have met, the messages that wait to be written, and the reading
// of what comes.
//
//   idle -> connecting -> up -> left: the peer has closed its agent, or this one has
//     \________\_______\____> lost: it can't be reached, is gone, or has broken the protocol
//
// Writing and reading are guarded apart, and nobody waits long for either: whoever writes leaves what has no room in
// the queue, whoever finds somebody reading leaves it to him.
#include <atomic>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include <agents/pipe/connection.hpp>
#include <agents/pipe/message_stream.hpp>
#include <agents/pipe/transports/shm_stream.hpp>
#include <distrun/runtime/rpc/agent.hpp>

namespace distrun::agents::pipe {

// What is done with messages that have come.
class Delivery {
 public:
  // With the reading of the link in hand.
  virtual void deliver(const rpc::WorkerInfo& from, rpc::Message message) noexcept = 0;

 protected:
  ~Delivery() = default;
};

// Any thread.
class Link {
 public:
  enum class State : std::uint8_t { Idle, Connecting, Up, Left, Lost };
  Link(rpc::WorkerInfo peer, std::string address);

  const rpc::WorkerInfo& peer() const noexcept { return peer_; }
  const std::string& address() const noexcept { return address_; }
  State state() const noexcept { return state_.load(std::memory_order_acquire); }
  bool is_over() const noexcept { return state() >= State::Left; }

  enum class Sent : std::uint8_t { Written, Queued, MustConnect };
  // Takes the message: whoever gets MustConnect sees to it that the peers meet. Throws Error{Disconnected} if the link
  // is over, Error{Overloaded} if it is a call and too much waits.
  Sent send(rpc::Message message, bool is_limited);
  // With why, for the peer; empty: it needs no reason.
  Sent send_leave(const std::string& why);
  // Writes what waits; true: nothing is left.
  bool flush() noexcept;
  bool has_queue() const noexcept { return has_queue_.load(std::memory_order_acquire); }

  // They have met. What waited is written.
  void begin(Connection connection, std::unique_ptr<Stream> stream);
  // Why the link is over; false: it was already.
  bool end(State state, const Error& why) noexcept;
  // ... as this side wants it, so that nobody has to be told.
  void dismiss(const Error& why) noexcept;
  // What is there is read first.
  void drain(Delivery& delivery) noexcept;
  // Nothing is delivered any more when this returns; descriptors and memory go with the link. Not from within a
  // delivery.
  void close() noexcept;

  // Reads up to so many messages, unless somebody does already: how many. Ends the link if they make no sense.
  int read(Delivery& delivery, int most) noexcept;
  // Of a link in shared memory: whether there is something to read; or to do at all.
  bool has_input() const noexcept {
    const ShmStream* const shm = shm_.load(std::memory_order_acquire);
    return shm != nullptr && !shm->is_empty();
  }
  bool is_ready() const noexcept {
    const ShmStream* const shm = shm_.load(std::memory_order_acquire);
    return shm != nullptr && (!shm->is_empty() || (has_queue() && shm->may_write()));
  }
  bool is_shm() const noexcept { return shm_.load(std::memory_order_acquire) != nullptr; }

  // Tells the peer that something was written.
  void ring() noexcept;
  // ... or lets it be if it has just fallen asleep: whoever owes that bell sees to it.
  void ring_later() noexcept;
  bool owes_bell() const noexcept { return owes_bell_.load(std::memory_order_relaxed); }
  void pay_bell() noexcept;

  // For the end of the link, if this thread is the one that has found it.
  std::optional<Error> take_end() noexcept;
  void add_debug_info(std::map<std::string, std::string>& info) const;
  int peer_pid() const noexcept { return peer_pid_.load(); }

 private:
  static constexpr std::size_t kQueuedBytesMax = 64 << 20;
  static constexpr std::size_t kQueuedMax = 100'000;

  Sent send(OutgoingMessage message, bool is_limited);
  bool end_locked(State state, const Error& why) noexcept;
  bool write(OutgoingMessage& message);
  bool write_queue();
  void handle(Delivery& delivery, IncomingMessages::Arrived arrived) noexcept;
  void release(std::uint64_t number);
  void read_peer(std::uint64_t address, std::byte* to, std::size_t bytes) const;

  const rpc::WorkerInfo peer_;
  const std::string address_;
  std::atomic<State> state_{State::Idle};
  std::atomic<bool> has_queue_{false};
  std::atomic<bool> owes_bell_{false};
  std::atomic<ShmStream*> shm_{nullptr};  // stream_, if it is one
  std::atomic<int> peer_pid_{0};
  std::atomic<std::size_t> cma_from_{0};  // bytes; 0: the peer reads none by itself
  std::atomic<std::uint64_t> messages_in_{0}, messages_out_{0};

  // Guarded by writing_, which is taken after reading_ where both are.
  mutable std::mutex writing_;
  std::deque<OutgoingMessage> queue_;
  std::size_t queued_bytes_ = 0;
  std::map<std::uint64_t, OutgoingMessage> kept_;  // until the peer has read them, by number
  std::uint64_t next_number_ = 0;
  std::optional<Error> why_;  // it is over
  bool is_end_told_ = false;
  std::string transport_ = "none yet";
  std::vector<std::string> channels_;
  std::vector<NotTaken> not_taken_;
  base::Fd socket_;  // of a link in shared memory: its end is the peer's

  std::mutex reading_;
  IncomingMessages incoming_;       // guarded by reading_
  bool is_closed_ = false;          // guarded by reading_
  std::unique_ptr<Stream> stream_;  // set with both; read by whoever holds one
};

}  // namespace distrun::agents::pipe
