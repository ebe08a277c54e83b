#pragma once
// An agent's connection to one peer: the stream, once they are connected, the messages that wait to be written, and the
// reading of what arrives.
//
//   idle -> connecting -> up -> left: the peer has closed its agent, or this one has
//     \________\_______\____> lost: it can't be reached, is gone, or has broken the protocol
//
// Writing and reading have separate locks, and no thread waits long for either: a writer leaves what has no room in the
// queue, and a reader that finds another thread reading returns.
//
// Memory that the peer reads directly (channel "cma") is kept until the peer confirms that it has, or the link is over:
// then the seal is broken first (seal.hpp), the stream left, and the memory freed last. If the peer has said that it
// leaves, the memory is kept until its end, since it may still read what it was sent before. The channel is used once
// both ends have proved that they can read each other; the connector proves it last, and reports it in its first
// message (kProved).
#include <array>
#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include <agents/pipe/connection.hpp>
#include <agents/pipe/message_stream.hpp>
#include <agents/pipe/peer_process.hpp>
#include <agents/pipe/seal.hpp>
#include <agents/pipe/send_queue.hpp>
#include <agents/pipe/transports/shm_stream.hpp>
#include <distrun/runtime/rpc/agent.hpp>

namespace distrun::agents::pipe {

// In addition to the pipe's kinds in message_stream.hpp. Sent by the connector: it can read this process's memory, so
// the channel "cma" is in use (id 1); or why it can't (id 0).
inline constexpr std::uint8_t kProved = 102;

// Counts what has passed over a link in one direction. Thread-safe.
class Traffic {
 public:
  // `kind` is the kind on the wire; `bytes` those of payload and tensors.
  void count(std::uint8_t kind, std::uint64_t bytes) noexcept {
    kinds_[kind < kinds_.size() ? kind : 0].fetch_add(1, std::memory_order_relaxed);
    bytes_.fetch_add(bytes, std::memory_order_relaxed);
  }
  // `way` "in" adds "messages_in", "messages_in.call", "bytes_in". The pipe's own messages are in the sum only.
  void add_to(std::map<std::string, std::string>& info, const std::string& prefix, const std::string& way) const;

 private:
  std::array<std::atomic<std::uint64_t>, static_cast<std::size_t>(rpc::kLastMessageKind) + 1> kinds_{};  // 0: own
  std::atomic<std::uint64_t> bytes_{0};
};

// Receives the messages of links.
class Delivery {
 public:
  // Called with the link's reading lock held.
  virtual void deliver(const rpc::WorkerInfo& from, rpc::Message message) noexcept = 0;

 protected:
  ~Delivery() = default;
};

// Thread-safe.
class Link {
 public:
  enum class State : std::uint8_t { Idle, Connecting, Up, Left, Lost };
  // The budget must outlive the link.
  Link(rpc::WorkerInfo peer, std::string address, base::ByteBudget& budget = SendQueue::budget_of_process());

  const rpc::WorkerInfo& peer() const noexcept { return peer_; }
  const std::string& address() const noexcept { return address_; }
  State state() const noexcept { return state_.load(std::memory_order_acquire); }
  bool is_over() const noexcept { return state() >= State::Left; }
  const PeerProcess& process() const noexcept { return process_; }

  enum class Sent : std::uint8_t { Written, Queued, MustConnect, Ended };
  using Limit = SendQueue::Limit;
  // Takes the message. If it returns MustConnect, the caller must start connecting to the peer. Ended: the message
  // cancels a call that is half sent, and there was no memory to copy the rest, which its caller may change from now
  // on; so the link has ended, which the caller must report. Throws Error{Disconnected} if the link is over,
  // Error{Overloaded} if too much is queued.
  Sent send(rpc::Message message, Limit limit);
  // Returns whether there is room for a call.
  bool has_room() const noexcept { return queue_.has_room(); }
  // Begins connecting without a message. Returns true if the caller must start connecting to the peer.
  bool begin_meeting() noexcept;
  // Sends the reason shown by the peer and the rank that caused it; an empty `why` needs no reason.
  Sent send_leave(const std::string& why, int because_of = -1);
  // Writes the queue. Returns true if it is empty afterwards.
  bool flush() noexcept;
  bool has_queue() const noexcept { return queue_.has_queue(); }
  // Returns whether the peer has yet to read memory directly.
  bool has_kept() const noexcept { return queue_.has_kept(); }

  // Called once connected. Writes the queue. Returns false if the link is over.
  bool begin(Connection connection, std::unique_ptr<Stream> stream);
  // Ends the link because of `why`; returns false if it was over already. Lost: the end of the stream notifies the
  // peer, if it exists. A peer that was connected, or has died, is named as the cause.
  bool end(State state, Error why) noexcept;
  // Ends the link since there is no memory, or no thread, for what it carries. Tells the peer why, if it can.
  void give_up(const Error& why) noexcept;
  // Ends the link at this side's request, so the end is not reported.
  void dismiss(const Error& why) noexcept;
  // Delivers what has arrived. Called before the link ends.
  void drain(Delivery& delivery) noexcept;
  // Nothing is delivered after it returns; frees descriptors and memory. Do not call it from within a delivery.
  void close() noexcept;

  // Reads up to `most` messages, unless another thread is reading. Returns how many. Ends the link on malformed input.
  int read(Delivery& delivery, int most) noexcept;
  // Links in shared memory only: whether there is something to read; whether to read or to write.
  bool has_input() const noexcept {
    const ShmStream* const shm = shm_.load(std::memory_order_acquire);
    return shm != nullptr && !shm->is_empty();
  }
  bool is_ready() const noexcept {
    const ShmStream* const shm = shm_.load();  // seq_cst: ordered after the door was set to parked
    return shm != nullptr && (!shm->is_empty() || (has_queue() && shm->may_write()));
  }
  bool is_shm() const noexcept { return shm_.load(std::memory_order_acquire) != nullptr; }

  // Wakes the peer after a write.
  void ring() noexcept;
  // Like ring(), but owes the bell if the peer has just fallen asleep.
  void ring_later() noexcept;
  // Owes the bell however long the peer sleeps; rings once it is owed for kUnrungMax messages.
  void owe_bell() noexcept;
  bool owes_bell() const noexcept { return owes_bell_.load(std::memory_order_relaxed); }
  void pay_bell() noexcept;

  // Returns the reason of the link's end to the first caller that asks; nullopt otherwise.
  std::optional<Error> take_end() noexcept;
  void add_debug_info(std::map<std::string, std::string>& info) const;

 private:
  Sent send(OutgoingMessage message, Limit limit, std::uint8_t kind, std::uint64_t bytes);
  Sent send_own(std::uint8_t kind, std::uint64_t id, const std::string& text = "");
  void take_channel();
  void take_proof(const rpc::Message& message);
  void forget_kept() noexcept;
  bool end_locked(State state, Error why) noexcept;
  bool write(OutgoingMessage& message) noexcept;
  bool write_queue() noexcept;
  void handle(Delivery& delivery, IncomingMessages::Arrived arrived) noexcept;
  void take(Delivery& delivery, IncomingMessages::Arrived arrived);
  void release(std::uint64_t number) noexcept;
  void read_peer(std::uint64_t address, std::byte* to, std::size_t bytes) const;

  const rpc::WorkerInfo peer_;
  const std::string address_;
  PeerProcess process_{peer_, address_};
  std::atomic<State> state_{State::Idle};
  std::atomic<bool> owes_bell_{false};
  std::atomic<int> unrung_{0};            // calls of owe_bell() since the last bell
  std::atomic<ShmStream*> shm_{nullptr};  // stream_, if it is a ShmStream
  std::atomic<std::size_t> cma_from_{0};  // bytes; 0: the peer reads nothing directly
  Traffic in_, out_;

  // Guarded by writing_, which is taken after reading_.
  mutable std::mutex writing_;
  SendQueue queue_;
  std::unique_ptr<Seal> seal_;  // of the memory of its messages, so it is destroyed before them
  std::optional<Error> why_;    // set: the link is over
  bool is_end_told_ = false;
  std::string transport_ = "none yet";
  std::vector<std::string> channels_;
  bool is_to_be_proved_ = false;  // "cma" is used once the peer reports that it can read this process
  std::vector<NotTaken> not_taken_;
  base::Fd socket_;  // of a link in shared memory: its end is the peer's end

  std::mutex reading_;
  IncomingMessages incoming_;   // guarded by reading_
  bool may_read_peer_ = false;  // guarded by reading_, as is the next
  SealMark peer_seal_;
  bool is_closed_ = false;          // guarded by reading_
  std::unique_ptr<Stream> stream_;  // set with both locks; read with either
};

}  // namespace distrun::agents::pipe
