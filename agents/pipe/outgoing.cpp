// Outgoing handshakes of Meetings.
#include <algorithm>
#include <cerrno>
#include <utility>

#include <distrun/common/base/deadline.hpp>
#include <distrun/common/base/error.hpp>
#include <distrun/common/base/if_memory.hpp>
#include <distrun/common/base/peer.hpp>

#include <agents/pipe/meetings.hpp>

namespace distrun::agents::pipe {
namespace {

using namespace std::chrono_literals;

constexpr base::Nanoseconds kFirstRest = 1ms;  // before a listener with a full queue is dialled again
constexpr base::Nanoseconds kLastRest = 100ms;

// Returns the peer's places in the order of this worker's transports.
std::vector<Place> places_of(const Identity& own, const Address& address) {
  std::vector<Place> places;
  for (const Offer& offer : own.transports) {
    if (!offer.why_not.empty()) continue;
    const SocketKind kind = offer.name == "tcp" ? SocketKind::Tcp : SocketKind::Uds;
    for (const Place& place : address) {
      const bool is_there = std::find(places.begin(), places.end(), place) != places.end();
      if (place.kind == kind && !is_there) places.push_back(place);
    }
  }
  return places;
}

// Returns whether a later try may succeed.
bool is_shortage(int error) noexcept {
  return error == EMFILE || error == ENFILE || error == ENOMEM || error == ENOBUFS;
}

// An error of this process says for which peer it had no socket.
Dialled dial_peer(const std::string& name, const Place& place) {
  try {
    return dial(place);
  } catch (const Error& error) {
    throw Error(error.kind(), error.type(), "cannot connect to " + name + ": " + error.text(), error.where());
  }
}

bool offers_memory(const Identity& own) {
  return std::any_of(own.transports.begin(), own.transports.end(),
                     [](const Offer& offer) { return offer.name == "shm" && offer.why_not.empty(); });
}

}  // namespace

void Meetings::connect(rpc::WorkerKey peer, std::string name, Address address) noexcept {
  if (peers_.has(peer.id)) return;
  advance(peer, [&] {
    std::vector<Place> places = places_of(own_, address);
    const auto [at, is_new] = outgoing_.try_emplace(peer.id);
    Outgoing& outgoing = at->second;
    if (!is_new && outgoing.peer == peer) return;
    outgoing = Outgoing();  // for a predecessor: there was no memory for the request to forget it
    outgoing.peer = peer;
    outgoing.name = std::move(name);
    outgoing.deadline = base::deadline_after(limit_);
    outgoing.rest = kFirstRest;
    outgoing.places = std::move(places);
    outgoing.address = std::move(address);
    dial_next(outgoing);
  });
}

void Meetings::cancel(WorkerId peer) noexcept { outgoing_.erase(peer); }

void Meetings::check_time(base::TimePoint now) {
  if (now >= reopen_) {
    reopen_ = base::TimePoint::max();
    listen(true);
  }
  std::erase_if(incoming_, [&](const auto& each) { return now >= each.second.deadline; });
  std::vector<WorkerId> due;
  for (const auto& [peer, outgoing] : outgoing_) {
    const bool rests = outgoing.state == Outgoing::State::Resting;
    if (now >= outgoing.deadline || (rests && now >= outgoing.retry)) due.push_back(peer);
  }
  for (const WorkerId peer : due) {
    const auto found = outgoing_.find(peer);
    if (found == outgoing_.end()) continue;
    Outgoing& outgoing = found->second;
    if (now < outgoing.deadline) {
      advance(outgoing.peer, [&] { dial_next(outgoing); });
      continue;
    }
    const std::string shortage = outgoing.is_short ? "; this worker was short of memory or descriptors" : "";
    fail(outgoing.peer, Error(ErrorKind::Timeout, place_of(outgoing) + " did not answer the handshake within " +
                                                      base::human(limit_) + shortage));
  }
}

void Meetings::go_on(Outgoing& outgoing, std::uint32_t events) {
  advance(outgoing.peer, [&] {
    if (outgoing.state == Outgoing::State::Dialling) {
      const int error = dial_error(outgoing.line.fd());
      if (error != 0) {
        add_trouble(outgoing,
                    "cannot be reached at " + to_string(outgoing.places[outgoing.at]) + ": " + base::errno_text(error));
        return dial_next(outgoing);
      }
      open(outgoing);
    } else if (outgoing.state == Outgoing::State::Opening || outgoing.state == Outgoing::State::Asking) {
      if ((events & EPOLLOUT) != 0 && flush(outgoing)) {
        poller_.change(outgoing.line.fd(), EPOLLIN, outgoing.token);
      }
      hear_answer(outgoing);
    }
  });
}

template <class Step>
void Meetings::advance(rpc::WorkerKey peer, const Step& step) noexcept {
  try {
    step();
  } catch (const Error& error) {
    fail(peer, error);
  } catch (const std::exception&) {
    try_later(peer);
  }
}

void Meetings::try_later(rpc::WorkerKey peer) noexcept {
  const auto found = outgoing_.find(peer.id);
  if (found == outgoing_.end()) return fail(peer, base::out_of_memory(ErrorKind::Disconnected));
  Outgoing& outgoing = found->second;
  outgoing.line = GreetingLine();
  outgoing.files.clear();
  outgoing.is_short = true;
  rest(outgoing, kLastRest);
}

// Dials the places from outgoing.at on, until one accepts or is in progress.
void Meetings::dial_next(Outgoing& outgoing) {
  while (outgoing.at < outgoing.places.size()) {
    const Place& place = outgoing.places[outgoing.at];
    Dialled dialled = dial_peer(outgoing.name, place);
    const bool is_short = is_shortage(dialled.error);
    if (dialled.error == EAGAIN || is_short) {
      outgoing.is_short |= is_short;
      rest(outgoing, outgoing.rest);
      outgoing.rest = std::min(2 * outgoing.rest, kLastRest);
      return;
    }
    if (dialled.error == 0 || dialled.error == EINPROGRESS) {
      outgoing.token = {PollKind::Outgoing, ++last_};
      outgoing.line = GreetingLine(std::move(dialled.socket));
      outgoing.state = Outgoing::State::Dialling;
      poller_.add(outgoing.line.fd(), EPOLLOUT, outgoing.token);
      return dialled.error == 0 ? open(outgoing) : void();
    }
    add_trouble(outgoing, "cannot be reached at " + to_string(place) + ": " + base::errno_text(dialled.error));
  }
  if (outgoing.places.empty()) {
    outgoing.troubles =
        outgoing.name + " is at " + to_string(outgoing.address) + ", which no transport of this worker can reach";
  }
  throw Error(ErrorKind::Disconnected, outgoing.troubles);
}

void Meetings::rest(Outgoing& outgoing, base::Nanoseconds time) noexcept {
  outgoing.state = Outgoing::State::Resting;
  outgoing.retry = base::deadline_after(time);
}

void Meetings::add_trouble(Outgoing& outgoing, const std::string& trouble) {
  outgoing.troubles += (outgoing.troubles.empty() ? outgoing.name + " " : "; ") + trouble;
  outgoing.line = GreetingLine();
  outgoing.files.clear();
  ++outgoing.at;
}

void Meetings::open(Outgoing& outgoing) {
  const bool is_uds = outgoing.places[outgoing.at].kind == SocketKind::Uds;
  if (is_uds && !base::is_trusted_peer(outgoing.line.fd())) {
    throw Error(ErrorKind::Disconnected, "another user listens at the address of " + place_of(outgoing) + " should be");
  }
  Opening opening;
  opening.nonce = proof::make_nonce();
  outgoing.nonces = {opening.nonce, {}};
  outgoing.state = Outgoing::State::Opening;
  send(outgoing, pack(opening), {});
}

void Meetings::say_hello(Outgoing& outgoing) {
  const bool is_uds = outgoing.places[outgoing.at].kind == SocketKind::Uds;
  if (is_uds && offers_memory(own_)) outgoing.files = events_.fds_for_hello(outgoing.peer.id);
  outgoing.hello = make_hello(own_, outgoing.peer, outgoing.nonces);
  outgoing.seal = std::make_unique<Seal>();
  outgoing.hello.seal = outgoing.seal->mark();
  std::vector<int> files;
  for (const base::Fd& file : outgoing.files) files.push_back(file.get());
  outgoing.state = Outgoing::State::Asking;
  send(outgoing, pack(outgoing.hello), std::move(files));
}

void Meetings::send(Outgoing& outgoing, wire::Bytes bytes, std::vector<int> files) {
  outgoing.line.put(std::move(bytes), std::move(files));
  const bool is_out = flush(outgoing);
  poller_.change(outgoing.line.fd(), is_out ? EPOLLIN : EPOLLIN | EPOLLOUT, outgoing.token);
}

void Meetings::hear_answer(Outgoing& outgoing) {
  std::optional<Answer> answer;
  try {
    const auto frame = outgoing.line.receive();
    if (!frame) return;
    answer = read(outgoing, wire::view_of(*frame));
  } catch (const Error& error) {
    const bool is_junk = error.kind() == ErrorKind::InvalidArgument;
    throw Error(ErrorKind::Disconnected,
                place_of(outgoing) + (is_junk ? " sent an invalid answer: " : ": ") + error.text());
  }
  std::visit([&](auto&& each) { take(outgoing, std::forward<decltype(each)>(each)); }, *std::move(answer));
}

// Returns an answer that is allowed in the current state.
Answer Meetings::read(const Outgoing& outgoing, wire::BytesView frame) const {
  Answer answer = read_answer(frame);
  const bool is_opening = outgoing.state == Outgoing::State::Opening;
  if (const auto* challenge = std::get_if<Challenge>(&answer)) {
    if (!is_opening) throw Error(ErrorKind::InvalidArgument, "it sent a second challenge");
    check(*challenge, own_, {outgoing.nonces.connector, challenge->nonce});
  } else if (const auto* welcome = std::get_if<Welcome>(&answer)) {
    if (is_opening) throw Error(ErrorKind::InvalidArgument, "it has not proved that it knows the session's secret");
    check(*welcome, outgoing.hello, outgoing.places[outgoing.at].kind, outgoing.name);
  } else if (is_opening) {
    std::get<Refusal>(answer).kind = RefusalKind::Final;
  }
  return answer;
}

void Meetings::take(Outgoing& outgoing, const Challenge& challenge) {
  outgoing.nonces.listener = challenge.nonce;
  say_hello(outgoing);
}

bool Meetings::flush(Outgoing& outgoing) {
  try {
    return outgoing.line.flush();
  } catch (const Error& error) {
    throw Error(ErrorKind::Disconnected, place_of(outgoing) + ": " + error.text());
  }
}

void Meetings::take(Outgoing& outgoing, Welcome welcome) {
  Connection connection;
  connection.peer = outgoing.peer.id;
  connection.incarnation = outgoing.peer.incarnation;
  connection.peer_name = outgoing.name;
  connection.peer_pid = welcome.pid;
  connection.peer_address = to_string(outgoing.address);
  connection.transport = std::move(welcome.transport);
  connection.channels = std::move(welcome.channels);
  connection.not_taken = std::move(welcome.not_taken);
  connection.proved = prove(connection.channels, connection.not_taken, welcome.pid, welcome.seal);
  connection.seal = std::move(outgoing.seal);
  connection.peer_seal = welcome.seal;
  poller_.remove(outgoing.line.fd());
  connection.fds = outgoing.line.take_files();
  connection.socket = outgoing.line.take_socket();
  connection.own_fds = std::move(outgoing.files);
  connection.is_connector = true;
  outgoing_.erase(connection.peer);
  if (peers_.admit(connection.peer)) events_.connected(std::move(connection));
}

void Meetings::take(Outgoing& outgoing, const Refusal& refusal) {
  const std::string where = to_string(outgoing.places[outgoing.at]);
  switch (refusal.kind) {
    case RefusalKind::Glare:
      outgoing.yields = true;
      outgoing.line = GreetingLine();
      outgoing.files.clear();
      return rest(outgoing, kLastRest);
    case RefusalKind::NoTransport:
      add_trouble(outgoing, "refuses at " + where + ": " + refusal.reason);
      return dial_next(outgoing);
    case RefusalKind::Final: {
      Error why(ErrorKind::Disconnected, outgoing.name + " (at " + where + ") refuses: " + refusal.reason);
      throw why.with_cause(refusal.because_of);
    }
  }
}

void Meetings::fail(rpc::WorkerKey peer, const Error& why) noexcept {
  outgoing_.erase(peer.id);
  events_.failed(peer, why);
}

std::string Meetings::place_of(const Outgoing& outgoing) const {
  return outgoing.name + " (at " + to_string(outgoing.address) + ")";
}

}  // namespace distrun::agents::pipe
