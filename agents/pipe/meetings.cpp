#include <agents/pipe/meetings.hpp>

#include <unistd.h>

#include <algorithm>
#include <utility>

#include <distrun/common/base/deadline.hpp>
#include <distrun/common/base/error.hpp>
#include <distrun/common/base/peer.hpp>

// Incoming handshakes, and what both roles share; outgoing.cpp has the outgoing ones.
namespace distrun::agents::pipe {
namespace {

using namespace std::chrono_literals;

constexpr auto kShortage = 100ms;  // retry interval after descriptors ran out
constexpr int kAcceptMost = 64;    // per event, so that other sockets get their turn

}  // namespace

Meetings::Meetings(Identity own, Listener listener, IoThreadEvents& events, Poller& poller, Watches& peers,
                   base::Nanoseconds limit)
    : own_(std::move(own)),
      listener_(std::move(listener)),
      events_(events),
      poller_(poller),
      peers_(peers),
      limit_(limit) {}

void Meetings::start() {
  for (const Place& place : listener_.address()) {
    const bool is_uds = place.kind == SocketKind::Uds;
    poller_.add(listener_.fd(place.kind), EPOLLIN, {is_uds ? PollKind::ListenUds : PollKind::ListenTcp, 0});
  }
}

void Meetings::close() noexcept {
  listener_.close();
  outgoing_.clear();
  incoming_.clear();
}

void Meetings::handle(const Polled& polled) {
  switch (polled.token.kind) {
    case PollKind::ListenUds: return accept(SocketKind::Uds);
    case PollKind::ListenTcp: return accept(SocketKind::Tcp);
    case PollKind::Incoming: {
      const auto found = incoming_.find(polled.token.number);
      if (found != incoming_.end()) go_on(found->second);
      return;
    }
    case PollKind::Outgoing: {
      const auto found = std::find_if(outgoing_.begin(), outgoing_.end(), [&](const auto& each) {
        return each.second.token.number == polled.token.number;
      });
      if (found != outgoing_.end()) go_on(found->second, polled.events);
      return;
    }
    default: return;
  }
}

base::TimePoint Meetings::next_time() const noexcept {
  base::TimePoint next = reopen_;
  for (const auto& [peer, outgoing] : outgoing_) {
    next = std::min(next, outgoing.deadline);
    if (outgoing.state == Outgoing::State::Resting) next = std::min(next, outgoing.retry);
  }
  for (const auto& [number, incoming] : incoming_) next = std::min(next, incoming.deadline);
  return next;
}

void Meetings::accept(SocketKind kind) {
  try {
    for (int i = 0; i < kAcceptMost; ++i) {
      const Token token{PollKind::Incoming, ++last_};
      if (!accept(kind, token)) return;
    }
  } catch (const std::exception&) {  // no descriptors are left, or no memory; stops listening, or epoll would report
                                     // the peers continuously
    listen(false);
    reopen_ = base::system_clock().now() + kShortage;
  }
}

// Makes the place first: if a connection were accepted, and closed without memory, its peer would think that this
// worker is gone. Returns false if no peer is there.
bool Meetings::accept(SocketKind kind, Token token) {
  if (incoming_.size() >= kIncomingMax) incoming_.erase(incoming_.begin());
  const auto place = incoming_.try_emplace(token.number).first;
  bool is_kept = false;
  try {
    base::Fd socket = listener_.accept(kind);
    const bool is_there = static_cast<bool>(socket);
    if (is_there && (kind != SocketKind::Uds || base::is_trusted_peer(socket.get()))) {
      poller_.add(socket.get(), EPOLLIN, token);
      place->second = {kind, base::deadline_after(limit_), token, GreetingLine(std::move(socket))};
      is_kept = true;
    }
    if (!is_kept) incoming_.erase(place);
    if (is_kept) go_on(place->second);  // most peers have sent their Opening already
    return is_there;
  } catch (...) {
    if (!is_kept) incoming_.erase(place);
    throw;
  }
}

void Meetings::listen(bool is_open) noexcept {
  for (const Place& place : listener_.address()) {
    const bool is_uds = place.kind == SocketKind::Uds;
    poller_.change(listener_.fd(place.kind), is_open ? EPOLLIN : 0U,
                   {is_uds ? PollKind::ListenUds : PollKind::ListenTcp, 0});
  }
}

// May erase `incoming`.
void Meetings::go_on(Incoming& incoming) {
  try {
    if (!incoming.agreed && !incoming.is_refused) {
      if (const auto frame = incoming.line.receive()) take(incoming, wire::view_of(*frame));
    }
  } catch (const Error& error) {
    const bool is_shortage = error.kind() == ErrorKind::Overloaded;
    if (error.kind() != ErrorKind::InvalidArgument && !is_shortage) {
      incoming_.erase(incoming.token.number);
      return;
    }
    refuse(incoming, {RefusalKind::Final, (is_shortage ? own_.worker + ": " : "") + error.text()});
  } catch (const std::exception& error) {
    refuse(incoming, {RefusalKind::Final, own_.worker + ": " + error.what()});
  }
  try {
    const bool is_out = incoming.line.flush();
    if (is_out && (incoming.agreed || incoming.is_refused)) return finish(incoming);
    poller_.change(incoming.line.fd(), is_out ? EPOLLIN : EPOLLOUT, incoming.token);
  } catch (const std::exception&) {
    incoming_.erase(incoming.token.number);
  }
}

void Meetings::take(Incoming& incoming, wire::BytesView frame) {
  const bool is_first = incoming.nonces.connector.empty();
  is_first ? take(incoming, read_opening(frame)) : take(incoming, read_hello(frame, own_, incoming.nonces));
}

void Meetings::take(Incoming& incoming, const Opening& opening) {
  incoming.nonces = {opening.nonce, proof::make_nonce()};
  incoming.line.put(pack(make_challenge(own_, incoming.nonces)));
}

void Meetings::take(Incoming& incoming, const Hello& hello) {
  events_.make_room(hello);
  if (const auto refusal = why_refused(hello)) {
    refuse(incoming, *refusal);
    const auto own = outgoing_.find(hello.id);
    const bool is_awaited = own != outgoing_.end() && own->second.yields;
    if (!is_awaited || refusal->kind != RefusalKind::Final) return;
    Error why(ErrorKind::Disconnected, hello.worker + " was refused: " + refusal->reason);
    return fail(own->second.peer, why.with_cause(refusal->because_of));
  }
  Choice choice = choose(own_, hello, incoming.kind, incoming.line.files());
  if (choice.transport.empty()) {
    return refuse(incoming, {RefusalKind::NoTransport, "no transport fits: " + reasons(choice.not_taken)});
  }
  prove(choice.channels, choice.not_taken, hello.pid, hello.seal);
  auto seal = std::make_unique<Seal>();
  Welcome welcome;
  welcome.worker = own_.worker;
  welcome.id = own_.id;
  welcome.pid = ::getpid();
  welcome.transport = choice.transport;
  welcome.channels = choice.channels;
  welcome.not_taken = choice.not_taken;
  welcome.seal = seal->mark();
  try {
    std::vector<int> files;
    if (incoming.kind == SocketKind::Uds) files = events_.fds_for_welcome(hello, choice.transport);
    incoming.line.put(pack(welcome), std::move(files));
  } catch (const Error& error) {
    return refuse(incoming, {RefusalKind::Final, error.what()});
  }
  Connection agreed;
  agreed.peer = hello.id;
  agreed.incarnation = hello.incarnation;
  agreed.peer_name = hello.worker;
  agreed.peer_pid = hello.pid;
  agreed.peer_address = hello.address;
  agreed.transport = std::move(choice.transport);
  agreed.channels = std::move(choice.channels);
  agreed.not_taken = std::move(choice.not_taken);
  agreed.seal = std::move(seal);
  agreed.peer_seal = hello.seal;
  incoming.agreed = std::move(agreed);
}

// If both have begun, the connection of the smaller id stays; but not if this end only awaits the peer's.
std::optional<Refusal> Meetings::why_refused(const Hello& hello) {
  if (peers_.has(hello.id)) return Refusal{RefusalKind::Final, hello.worker + " is already connected"};
  const auto own = outgoing_.find(hello.id);
  const bool is_busy = own != outgoing_.end() && !own->second.yields;
  if (is_busy && own_.id < hello.id) return Refusal{RefusalKind::Glare, own_.worker + " is connecting"};
  return events_.refuse(hello);
}

void Meetings::refuse(Incoming& incoming, const Refusal& refusal) {
  incoming.line.put(pack(refusal));
  incoming.is_refused = true;
}

// Called when everything is sent.
void Meetings::finish(Incoming& incoming) {
  if (incoming.is_refused) return void(incoming_.erase(incoming.token.number));
  Connection connection = std::move(*incoming.agreed);
  poller_.remove(incoming.line.fd());
  connection.fds = incoming.line.take_files();
  connection.socket = incoming.line.take_socket();
  incoming_.erase(incoming.token.number);
  if (!peers_.admit(connection.peer)) return;  // two connections of one worker at once: the other was faster
  outgoing_.erase(connection.peer);
  events_.connected(std::move(connection));
}

}  // namespace distrun::agents::pipe
