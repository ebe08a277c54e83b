#pragma once
// What an agent has for one peer: a stream, once they have met, the messages that wait to be written, and the reading
// of what comes.
//
//   idle -> connecting -> up -> left: the peer has closed its agent, or this one has
//     \________\_______\____> lost: it can't be reached, is gone, or has broken the protocol
//
// Writing and reading are guarded apart, and nobody waits long for either: whoever writes leaves what has no room in
// the queue, whoever finds somebody reading leaves it to him.
//
// Memory that the peer reads by itself (channel "cma") is kept until it says that it has, or the link is over: then the
// seal is broken first (seal.hpp), the stream left, and the memory given up last. Of a peer that has said that it
// leaves until its end: what it was sent before it may still want. The channel is taken once both ends have proved that
// they can read each other; who has connected is the last to do so, and says it first of all (kProved).
#include <array>
#include <atomic>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include <agents/pipe/connection.hpp>
#include <agents/pipe/message_stream.hpp>
#include <agents/pipe/seal.hpp>
#include <agents/pipe/transports/shm_stream.hpp>
#include <distrun/runtime/rpc/agent.hpp>

namespace distrun::agents::pipe {

// Beside the pipe's own kinds of message_stream.hpp. Of who has connected: it can read this process's memory, so the
// channel "cma" is there (id 1); or why it can't (id 0).
inline constexpr std::uint8_t kProved = 102;

// What has gone one way over a link. Any thread.
class Traffic {
 public:
  // `kind` of a message as it travels; `bytes` of its payload and its tensors.
  void count(std::uint8_t kind, std::uint64_t bytes) noexcept {
    kinds_[kind < kinds_.size() ? kind : 0].fetch_add(1, std::memory_order_relaxed);
    bytes_.fetch_add(bytes, std::memory_order_relaxed);
  }
  // "in" -> "messages_in", "messages_in.call", "bytes_in". Messages of the pipe's own count, and have no line.
  void add_to(std::map<std::string, std::string>& info, const std::string& prefix, const std::string& way) const;

 private:
  std::array<std::atomic<std::uint64_t>, static_cast<std::size_t>(rpc::kLastMessageKind) + 1> kinds_{};  // 0: its own
  std::atomic<std::uint64_t> bytes_{0};
};

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
  // How much may wait in the queue before another message of the kind is refused.
  enum class Limit : std::uint8_t { Call, Reply, None };
  // Takes the message: whoever gets MustConnect sees to it that the peers meet. Throws Error{Disconnected} if the link
  // is over, Error{Overloaded} if too much waits.
  Sent send(rpc::Message message, Limit limit);
  // Returns whether there is room for a call.
  bool has_room() const noexcept { return queued_bytes_ < kCallBytesMax && queued_ < kCallsMax; }
  // They have not met, and nothing is to be sent yet: true to whoever has to see to it that they meet.
  bool begin_meeting() noexcept;
  // With why, for the peer; empty: it needs no reason.
  Sent send_leave(const std::string& why);
  // Writes what waits; true: nothing is left.
  bool flush() noexcept;
  bool has_queue() const noexcept { return has_queue_.load(std::memory_order_acquire); }
  // What the peer has not read yet of what it reads by itself.
  bool has_kept() const noexcept { return has_kept_.load(std::memory_order_acquire); }

  // They have met. What waited is written.
  void begin(Connection connection, std::unique_ptr<Stream> stream);
  // Why the link is over; false: it was already. Lost: the peer, if it is there, is told by the end of the stream. One
  // that was met, or has died, is named as the cause.
  bool end(State state, Error why) noexcept;
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
    const ShmStream* const shm = shm_.load();  // seq_cst: after the door was set to parked
    return shm != nullptr && (!shm->is_empty() || (has_queue() && shm->may_write()));
  }
  bool is_shm() const noexcept { return shm_.load(std::memory_order_acquire) != nullptr; }

  // Tells the peer that something was written.
  void ring() noexcept;
  // ... or lets it be if it has just fallen asleep: whoever owes that bell sees to it.
  void ring_later() noexcept;
  // ... or lets it be, however long it sleeps; but not for more than a few messages.
  void owe_bell() noexcept;
  bool owes_bell() const noexcept { return owes_bell_.load(std::memory_order_relaxed); }
  void pay_bell() noexcept;

  // For the end of the link, if this thread is the one that has found it.
  std::optional<Error> take_end() noexcept;
  void add_debug_info(std::map<std::string, std::string>& info) const;
  int peer_pid() const noexcept { return peer_pid_.load(); }

 private:
  // Limits of the queue, in bytes with the tensors, and in calls.
  static constexpr std::uint64_t kCallBytesMax = 256 << 20, kReplyBytesMax = std::uint64_t{1} << 30;
  static constexpr std::size_t kCallsMax = 100'000;

  Sent send(OutgoingMessage message, Limit limit, std::uint8_t kind, std::uint64_t bytes);
  void check_room(Limit limit) const;
  void withdraw(std::uint64_t call) noexcept;
  void push(OutgoingMessage message);
  Sent send_own(std::uint8_t kind, std::uint64_t id, const std::string& text = "");
  void put_first(OutgoingMessage message);
  void take_channel();
  void take_proof(const rpc::Message& message);
  void keep(OutgoingMessage message);
  void forget_kept() noexcept;
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
  std::atomic<bool> has_kept_{false};
  std::atomic<bool> owes_bell_{false};
  std::atomic<int> unrung_{0};            // messages that owe_bell() was told of since the last bell
  std::atomic<ShmStream*> shm_{nullptr};  // stream_, if it is one
  std::atomic<int> peer_pid_{0};
  std::atomic<std::size_t> cma_from_{0};  // bytes; 0: the peer reads none by itself
  Traffic in_, out_;

  // Guarded by writing_, which is taken after reading_ where both are.
  mutable std::mutex writing_;
  std::deque<OutgoingMessage> queue_;
  // The size of queue_; read without writing_, too.
  std::atomic<std::uint64_t> queued_bytes_{0};
  std::atomic<std::size_t> queued_{0};
  std::map<std::uint64_t, OutgoingMessage> kept_;  // until the peer has read them, by number
  std::unique_ptr<Seal> seal_;                     // of the memory of both, so before them it goes
  std::uint64_t next_number_ = 0;
  std::optional<Error> why_;  // it is over
  bool is_end_told_ = false;
  std::string transport_ = "none yet";
  std::vector<std::string> channels_;
  bool is_to_be_proved_ = false;  // "cma" is one, once the peer says that it can read this process
  std::vector<NotTaken> not_taken_;
  base::Fd socket_;  // of a link in shared memory: its end is the peer's

  std::mutex reading_;
  IncomingMessages incoming_;   // guarded by reading_
  bool may_read_peer_ = false;  // guarded by reading_, and so is the next
  SealMark peer_seal_;
  bool is_closed_ = false;          // guarded by reading_
  std::unique_ptr<Stream> stream_;  // set with both; read by whoever holds one
};

}  // namespace distrun::agents::pipe
