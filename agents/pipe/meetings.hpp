#pragma once
// Runs all handshakes of both roles (handshake.hpp) on the I/O thread. Never blocks: each handshake is a state machine
// that advances when its socket is ready, and ends at its deadline.
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <distrun/common/base/clock.hpp>

#include <agents/pipe/connection.hpp>
#include <agents/pipe/greeting_line.hpp>
#include <agents/pipe/poller.hpp>
#include <agents/pipe/transports/listener.hpp>
#include <agents/pipe/watches.hpp>

namespace distrun::agents::pipe {

class Meetings {
 public:
  // Limit of concurrent incoming handshakes; beyond it the oldest is dropped. A handshake takes microseconds: a peer
  // that is slower than 256 others is not a worker.
  static constexpr std::size_t kIncomingMax = 256;

  Meetings(Identity own, Listener listener, IoThreadEvents& events, Poller& poller, Watches& peers,
           base::Nanoseconds limit);

  const Address& address() const noexcept { return listener_.address(); }
  void start();
  void close() noexcept;

  // Does nothing if there is an attempt or a connection already. Replaces an attempt to reach another incarnation.
  // `address` is not empty.
  void connect(rpc::WorkerKey peer, std::string name, Address address) noexcept;
  void cancel(WorkerId peer) noexcept;

  void handle(const Polled& polled);
  // Ends handshakes past their deadline, and dials again where that is due.
  void check_time(base::TimePoint now);
  // Returns when to call check_time(); max(): never.
  base::TimePoint next_time() const noexcept;

 private:
  struct Outgoing {
    enum class State : std::uint8_t {
      Resting,  // dials again at `retry`: the listener's queue is full, or the peer's connection is to stay
      Dialling,
      Opening,  // sending the Opening, or waiting for the Challenge
      Asking,   // sending the Hello, or waiting for the answer
    };

    rpc::WorkerKey peer;
    std::string name;
    Address address;
    std::vector<Place> places;  // of the peer, that this worker's transports can reach
    std::size_t at = 0;
    std::string troubles;  // at the places tried before
    State state = State::Resting;
    base::TimePoint deadline;
    base::TimePoint retry;
    base::Nanoseconds rest{};
    // The peer connects to this worker, and its connection stays. Nothing tells if that fails or the peer ends: this
    // end dials again until one of the two connections is made or refused.
    bool yields = false;
    bool is_short = false;  // a try has found no memory, or no descriptor
    Token token;
    proof::Nonces nonces;
    Hello hello;
    std::unique_ptr<Seal> seal;
    GreetingLine line;
    std::vector<base::Fd> files;
  };
  struct Incoming {
    SocketKind kind = SocketKind::Uds;
    base::TimePoint deadline;
    Token token;
    GreetingLine line;
    proof::Nonces nonces{};              // empty until the peer has sent its Opening
    std::optional<Connection> agreed{};  // set: the Welcome is being sent
    bool is_refused = false;             // the Refusal is being sent
  };

  // Runs a step; what it throws ends the attempt. Without memory the peer is dialled again later.
  template <class Step>
  void advance(rpc::WorkerKey peer, const Step& step) noexcept;
  void dial_next(Outgoing& outgoing);
  void rest(Outgoing& outgoing, base::Nanoseconds time) noexcept;
  void try_later(rpc::WorkerKey peer) noexcept;
  void add_trouble(Outgoing& outgoing, const std::string& trouble);
  void open(Outgoing& outgoing);
  void say_hello(Outgoing& outgoing);
  void send(Outgoing& outgoing, wire::Bytes bytes, std::vector<int> files);
  bool flush(Outgoing& outgoing);
  void hear_answer(Outgoing& outgoing);
  Answer read(const Outgoing& outgoing, wire::BytesView frame) const;
  void take(Outgoing& outgoing, const Challenge& challenge);
  void take(Outgoing& outgoing, Welcome welcome);
  void take(Outgoing& outgoing, const Refusal& refusal);
  void fail(rpc::WorkerKey peer, const Error& why) noexcept;
  std::string place_of(const Outgoing& outgoing) const;
  void go_on(Outgoing& outgoing, std::uint32_t events);

  void accept(SocketKind kind);
  bool accept(SocketKind kind, Token token);
  void listen(bool is_open) noexcept;
  void go_on(Incoming& incoming);
  void take(Incoming& incoming, wire::BytesView frame);
  void take(Incoming& incoming, const Opening& opening);
  void take(Incoming& incoming, const Hello& hello);
  void refuse(Incoming& incoming, const Refusal& refusal);
  std::optional<Refusal> why_refused(const Hello& hello);
  void finish(Incoming& incoming);

  const Identity own_;
  Listener listener_;
  IoThreadEvents& events_;
  Poller& poller_;
  Watches& peers_;
  const base::Nanoseconds limit_;
  std::map<WorkerId, Outgoing> outgoing_;
  std::map<std::uint64_t, Incoming> incoming_;       // by number of their tokens, so the oldest is first
  std::uint64_t last_ = 0;                           // of tokens
  base::TimePoint reopen_ = base::TimePoint::max();  // when to listen again after descriptors ran out
};

}  // namespace distrun::agents::pipe
