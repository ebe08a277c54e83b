#include <agents/pipe/handshake.hpp>

#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <string_view>

#include <distrun/common/base/error.hpp>
#include <distrun/common/base/text.hpp>
#include <distrun/runtime/core/hosts.hpp>

namespace distrun::agents::pipe {
namespace {

enum class Kind : std::uint8_t { Opening = 1, Welcome = 2, Refusal = 3, Challenge = 4, Hello = 5 };

constexpr std::size_t kReasonMax = 4096;
constexpr std::size_t kAddressMax = 256;
constexpr char kNoGreeting[] = "invalid greeting";

[[noreturn]] void refuse_greeting(const std::string& why) { throw Error(ErrorKind::InvalidArgument, why); }

template <class Message>
wire::Bytes pack_as(Kind kind, const Message& message) {
  const wire::Bytes fields = wire::encode(message);
  if (fields.size() + 1 > kGreetingMax) {
    refuse_greeting("a greeting of " + std::to_string(fields.size()) + " bytes is over the limit of " +
                    std::to_string(kGreetingMax));
  }
  wire::ByteWriter writer;
  writer.number(static_cast<std::uint32_t>(fields.size() + 1));
  writer.number(static_cast<std::uint8_t>(kind));
  writer.append(fields.data(), fields.size());
  return writer.take();
}

// Escapes the text and cuts it to `limit` bytes; a cut text ends with three dots.
std::string cut(const std::string& text, std::size_t limit = kOfferTextMax) { return base::one_line(text, limit - 3); }

void check_offers(const std::vector<Offer>& offers, const char* what) {
  if (offers.size() > kOffersMax) {
    refuse_greeting("it offers " + std::to_string(offers.size()) + " " + what + ", the limit is " +
                    std::to_string(kOffersMax));
  }
  for (const Offer& offer : offers) {
    for (const std::string* text : {&offer.name, &offer.descriptor, &offer.why_not}) {
      if (text->size() > kOfferTextMax) refuse_greeting(std::string("a text of its ") + what + " is too long");
    }
  }
}

const Offer* find(const std::vector<Offer>& offers, const std::string& name) {
  const auto found = std::find_if(offers.begin(), offers.end(), [&](const Offer& each) { return each.name == name; });
  return found != offers.end() ? &*found : nullptr;
}

// Removes the first part of `rest`, for example "uid=0" of "uid=0, ...", and returns it.
std::string_view take_part(std::string_view& rest) {
  const std::size_t end = std::min(rest.find(", "), rest.size());
  const std::string_view part = rest.substr(0, end);
  rest.remove_prefix(std::min(end + 2, rest.size()));
  return part;
}

// Describes how two descriptors differ; empty: they are equal.
std::string difference(std::string_view one, std::string_view other) {
  while (!one.empty() || !other.empty()) {
    const std::string_view mine = take_part(one);
    const std::string_view theirs = take_part(other);
    if (mine == theirs) continue;
    const std::string_view key = mine.substr(0, mine.find('='));
    if (key.empty() || !theirs.starts_with(key)) return "the peer describes it differently";
    if (key == "host") {
      const auto name_in = [&](std::string_view part) { return std::string(part.substr(key.size() + 1)); };
      return "the peer is on another host (" + name_in(mine) + ", " + name_in(theirs) + ")";
    }
    if (key == "boot id") return "the peer is on another machine (boot id differs)";
    return "the peer's " + std::string(key) + " differs";
  }
  return {};
}

// Returns why they can't both use it; empty: they can.
std::string why_not(const Offer& own, const Offer* peers) {
#ifndef DISTRUN_FUZZ_PLANTED_BUG
  if (!own.why_not.empty()) return own.why_not;
#endif
  if (peers == nullptr) return "not offered by the peer";
  if (!peers->why_not.empty()) return "at the peer: " + peers->why_not;
  return difference(own.descriptor, peers->descriptor);
}

std::string why_not_over(SocketKind socket, const std::string& transport, std::size_t files) {
  const bool needs_tcp = transport == "tcp";
  if (needs_tcp != (socket == SocketKind::Tcp)) {
    return needs_tcp ? "the connection is a Unix socket" : "the connection is TCP";
  }
  return transport == "shm" && files == 0 ? "the peer sent no memory" : "";
}

void add_unknown(std::vector<NotTaken>& not_taken, const std::vector<Offer>& own, const std::vector<Offer>& peers) {
  for (const Offer& offer : peers) {
    if (find(own, offer.name) == nullptr) not_taken.push_back({cut(offer.name), "not offered by this worker"});
  }
}

}  // namespace

std::string machine_descriptor() {
  std::ifstream file("/proc/sys/kernel/random/boot_id");
  std::string boot_id;
  file >> boot_id;
  const core::Hosts& hosts = core::known_hosts();
  const std::string host = hosts.are_several() ? "host=" + hosts.name() + ", " : "";
  return host + "boot id=" + boot_id + ", uid=" + std::to_string(::geteuid());
}

wire::Bytes pack(const Opening& opening) { return pack_as(Kind::Opening, opening); }
wire::Bytes pack(const Challenge& challenge) { return pack_as(Kind::Challenge, challenge); }
wire::Bytes pack(const Hello& hello) { return pack_as(Kind::Hello, hello); }
wire::Bytes pack(const Welcome& welcome) { return pack_as(Kind::Welcome, welcome); }
wire::Bytes pack(const Refusal& refusal) {
  return pack_as(Kind::Refusal, Refusal{refusal.kind, cut(refusal.reason, kReasonMax), refusal.because_of});
}

Challenge make_challenge(const Identity& own, const proof::Nonces& nonces) {
  return {nonces.listener, proof::prove(own.secret, kProofProtocol, proof::Side::Listener, nonces)};
}

Hello make_hello(const Identity& own, rpc::WorkerKey expects, const proof::Nonces& nonces) {
  Hello hello;
  hello.proof = proof::prove(own.secret, kProofProtocol, proof::Side::Connector, nonces);
  hello.worker = own.worker;
  hello.id = own.id;
  hello.incarnation = own.incarnation;
  hello.expects = expects.id;
  hello.expects_incarnation = expects.incarnation;
  hello.pid = ::getpid();
  hello.address = own.address;
  hello.transports = own.transports;
  hello.channels = own.channels;
  for (std::vector<Offer>* offers : {&hello.transports, &hello.channels}) {
    for (Offer& offer : *offers) offer.why_not = cut(offer.why_not);
  }
  return hello;
}

Opening read_opening(wire::BytesView frame) {
  wire::ByteReader reader(frame);
  const bool is_opening = frame.size() > 9 &&
                          reader.number<std::uint8_t>() == static_cast<std::uint8_t>(Kind::Opening) &&
                          reader.number<std::uint32_t>() == kProtocolMagic;
  if (!is_opening) refuse_greeting(kNoGreeting);
  const auto version = reader.number<std::uint32_t>();
  if (version != kProtocolVersion) {
    refuse_greeting("this worker speaks version " + std::to_string(kProtocolVersion) +
                    " of the protocol, but the peer speaks " + std::to_string(version));
  }
  Opening opening = wire::decode<Opening>(frame.substr(1));
  if (opening.nonce.size() != proof::kNonceSize) refuse_greeting(kNoGreeting);
  return opening;
}

Hello read_hello(wire::BytesView frame, const Identity& own, const proof::Nonces& nonces) {
  wire::ByteReader reader(frame);
  if (reader.number<std::uint8_t>() != static_cast<std::uint8_t>(Kind::Hello)) refuse_greeting(kNoGreeting);
  if (!proof::is_proof(reader.string(), own.secret, kProofProtocol, proof::Side::Connector, nonces)) {
    refuse_greeting("the peer does not know this session's secret");
  }
  Hello hello = wire::decode<Hello>(frame.substr(1));
  const rpc::WorkerInfo peer(hello.worker, hello.id);  // throws for an invalid name or id
  if (hello.expects != own.id) {
    refuse_greeting("this is worker " + std::to_string(own.id) + ", not " + std::to_string(hello.expects));
  }
  if (!own.key().matches({hello.expects, hello.expects_incarnation})) {
    refuse_greeting(own.worker + " has left, and another worker has joined in its place");
  }
  if (hello.id == own.id) refuse_greeting("this is worker " + std::to_string(own.id) + ", too");
  if (hello.pid <= 0) refuse_greeting("invalid process id " + std::to_string(hello.pid));
  if (hello.address.size() > kAddressMax) refuse_greeting("its address is too long");
  if (!hello.address.empty()) (void)parse_address(hello.address);
  check_offers(hello.transports, "transports");
  check_offers(hello.channels, "channels");
  return hello;
}

Choice choose(const Identity& own, const Hello& hello, SocketKind socket, std::size_t files) {
  Choice choice;
  for (const Offer& offer : own.transports) {
    std::string why = why_not(offer, find(hello.transports, offer.name));
    if (why.empty()) why = why_not_over(socket, offer.name, files);
    if (why.empty() && !choice.transport.empty()) why = choice.transport + " is preferred";
    if (why.empty()) {
      choice.transport = offer.name;
    } else {
      choice.not_taken.push_back({offer.name, cut(why)});
    }
  }
  add_unknown(choice.not_taken, own.transports, hello.transports);
  for (const Offer& offer : own.channels) {
    const std::string why = why_not(offer, find(hello.channels, offer.name));
    if (why.empty()) {
      choice.channels.push_back(offer.name);
    } else {
      choice.not_taken.push_back({offer.name, cut(why)});
    }
  }
  add_unknown(choice.not_taken, own.channels, hello.channels);
  return choice;
}

std::optional<std::string> prove(std::vector<std::string>& channels, std::vector<NotTaken>& not_taken, std::int32_t pid,
                                 const SealMark& seal) {
  const auto found = std::find(channels.begin(), channels.end(), "cma");
  if (found == channels.end()) return std::nullopt;
  const std::string why = cut(why_broken(pid, seal));
  if (why.empty()) return why;
  channels.erase(found);
  not_taken.push_back({"cma", cut("this worker cannot read the peer's memory: " + why)});
  return why;
}

std::string reasons(const std::vector<NotTaken>& not_taken) {
  std::string text;
  for (const NotTaken& each : not_taken) {
    if (!text.empty()) text += "; ";
    text.append(each.name).append(": ").append(each.why);
  }
  return text;
}

Answer read_answer(wire::BytesView frame) {
  wire::ByteReader reader(frame);
  const auto kind = reader.number<std::uint8_t>();
  if (kind == static_cast<std::uint8_t>(Kind::Refusal)) {
    Refusal refusal = wire::decode<Refusal>(frame.substr(1));
    if (refusal.kind > RefusalKind::NoTransport) refusal.kind = RefusalKind::Final;
    refusal.reason = cut(refusal.reason, kReasonMax);
    if (refusal.because_of < 0 || refusal.because_of >= kRanksMost) refusal.because_of = -1;
    return refusal;
  }
  if (kind == static_cast<std::uint8_t>(Kind::Challenge)) return wire::decode<Challenge>(frame.substr(1));
  if (kind != static_cast<std::uint8_t>(Kind::Welcome)) refuse_greeting("the listener is not a worker");
  return wire::decode<Welcome>(frame.substr(1));
}

void check(const Challenge& challenge, const Identity& own, const proof::Nonces& nonces) {
  if (nonces.listener.size() != proof::kNonceSize) refuse_greeting("the listener is not a worker");
  if (!proof::is_proof(challenge.proof, own.secret, kProofProtocol, proof::Side::Listener, nonces)) {
    refuse_greeting("it does not know this session's secret");
  }
}

void check(const Welcome& welcome, const Hello& hello, SocketKind socket, const std::string& peer_name) {
  if (welcome.id != hello.expects || welcome.worker != peer_name) {
    refuse_greeting("it is worker " + std::to_string(welcome.id) + ", " + cut(welcome.worker));
  }
  if (welcome.pid <= 0) refuse_greeting("invalid process id " + std::to_string(welcome.pid));
  const Offer* transport = find(hello.transports, welcome.transport);
  if (transport == nullptr || !transport->why_not.empty() || !why_not_over(socket, welcome.transport, 1).empty()) {
    refuse_greeting("it has chosen " + cut(welcome.transport) + ", which was not offered");
  }
  for (const std::string& name : welcome.channels) {
    const Offer* channel = find(hello.channels, name);
    if (channel == nullptr || !channel->why_not.empty())
      refuse_greeting("it has chosen " + cut(name) + ", which was not offered");
  }
  if (welcome.not_taken.size() > 4 * kOffersMax) refuse_greeting("it sent too many reasons");
  for (const NotTaken& each : welcome.not_taken) {
    if (each.name.size() > kOfferTextMax || each.why.size() > kOfferTextMax)
      refuse_greeting("one of its reasons is too long");
  }
}

}  // namespace distrun::agents::pipe
