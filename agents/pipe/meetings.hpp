#pragma once
// All handshakes that are on their way (handshake.hpp), of both roles. Lives on the porter's thread. Nothing here
// waits: each is a state, and goes on when its socket is ready, or is over when its time is.
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
  // At once of those who come; of more than that, the one that has been at it for longest is dropped. A greeting takes
  // microseconds: whoever needs longer than so many others is none.
  static constexpr std::size_t kIncomingMax = 256;

  Meetings(Identity own, Listener listener, PorterEvents& events, Poller& poller, Watches& peers,
           base::Nanoseconds limit);

  const Address& address() const noexcept { return listener_.address(); }
  void start();
  void close() noexcept;

  // Unless there is one, or a connection. `address` is not empty.
  void connect(rpc::WorkerKey peer, std::string name, Address address);
  void cancel(WorkerId peer) noexcept;

  void handle(const Polled& polled);
  // Ends what is late, and tries again what had to wait.
  void check_time(base::TimePoint now);
  // When to call check_time(); max(): nothing is to come.
  base::TimePoint next_time() const noexcept;

 private:
  struct Outgoing {
    enum class State : std::uint8_t {
      Resting,  // too many wait there: dialled again at `retry`
      Dialling,
      Opening,   // the Opening is sent, or the Challenge is to come
      Asking,    // the Hello is sent, or the answer is to come
      Awaiting,  // it connects to us, and its connection is the one that stays
    };

    rpc::WorkerKey peer;
    std::string name;
    Address address;
    std::vector<Place> places;  // of it, where own transports lead
    std::size_t at = 0;
    std::string troubles;  // at those before
    State state = State::Resting;
    base::TimePoint deadline;
    base::TimePoint retry;
    base::Nanoseconds rest{};
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
    proof::Nonces nonces{};              // empty until it has sent its Opening
    std::optional<Connection> agreed{};  // its Welcome is on its way
    bool is_refused = false;             // its Refusal is
  };

  // Runs a step of it; an error that comes of it is its end.
  template <class Step>
  void advance(Outgoing& outgoing, const Step& step);
  void dial_next(Outgoing& outgoing);
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
  void fail(rpc::WorkerKey peer, const Error& why);
  std::string place_of(const Outgoing& outgoing) const;
  void go_on(Outgoing& outgoing, std::uint32_t events);

  void accept(SocketKind kind);
  void listen(bool is_open) noexcept;
  void go_on(Incoming& incoming);
  void take(Incoming& incoming, wire::BytesView frame);
  void take(Incoming& incoming, const Opening& opening);
  void take(Incoming& incoming, const Hello& hello);
  void refuse(Incoming& incoming, RefusalKind kind, const std::string& reason);
  std::optional<Refusal> why_refused(const Hello& hello);
  void finish(Incoming& incoming);

  const Identity own_;
  Listener listener_;
  PorterEvents& events_;
  Poller& poller_;
  Watches& peers_;
  const base::Nanoseconds limit_;
  std::map<WorkerId, Outgoing> outgoing_;
  std::map<std::uint64_t, Incoming> incoming_;       // by the numbers of tokens, so the oldest is first
  std::uint64_t last_ = 0;                           // of tokens
  base::TimePoint reopen_ = base::TimePoint::max();  // of the listener, which has run out of descriptors
};

}  // namespace distrun::agents::pipe
