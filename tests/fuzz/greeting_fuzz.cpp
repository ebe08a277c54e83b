// Input of a handshake between workers: a stream of frames, after a byte that tells the size of the pieces; or an
// address. Any input is refused, or gets an answer that its sender accepts.
#include <sys/socket.h>

#include <algorithm>
#include <optional>

#include <agents/pipe/greeting_line.hpp>
#include <agents/pipe/handshake.hpp>
#include <distrun/common/base/error.hpp>

#include "fuzz.hpp"

namespace {

using namespace distrun;
using namespace distrun::agents::pipe;
using fuzz::require;

const Identity& own() {
  static const Identity identity{
      "secret",
      "worker1",
      1,
      "uds:distrun-rpc-1",
      {{"shm", "boot id=1, uid=0", ""}, {"uds", "", ""}, {"tcp", "", ""}, {"old", "", "it is gone"}},
      {{"cma", "boot id=1, uid=0, pid namespace=4", ""}}};
  return identity;
}

// The handshake's proofs are for these nonces; the corpus has the proofs.
const proof::Nonces& nonces() {
  static const proof::Nonces both{std::string(proof::kNonceSize, 'c'), std::string(proof::kNonceSize, 'l')};
  return both;
}

// The connector accepts the listener's answer.
void answer(const Hello& hello, SocketKind kind, std::size_t files) {
  const Choice choice = choose(own(), hello, kind, files);
  require(choice.transport != "old", "what can't be used is not chosen");
  require(choice.transport != "shm" || files > 0, "no memory is shared that has not come along");
  Welcome welcome;
  welcome.worker = own().worker;
  welcome.id = own().id;
  welcome.pid = 1;
  welcome.transport = choice.transport;
  welcome.channels = choice.channels;
  welcome.not_taken = choice.not_taken;
  const wire::Bytes bytes = pack(welcome);
  require(pack(Refusal{RefusalKind::NoTransport, reasons(choice.not_taken)}).size() <= kGreetingMax + 4,
          "what is refused has room for its reasons");
  const Answer heard = read_answer(wire::view_of(bytes).substr(4));
  require(std::holds_alternative<Welcome>(heard), "a welcome is one");
  if (!choice.transport.empty()) check(std::get<Welcome>(heard), hello, kind, own().worker);
}

// Any valid opening is answered by a challenge that its sender accepts.
void take_opening(wire::BytesView frame) {
  Opening opening;
  try {
    opening = read_opening(frame);
  } catch (const Error& error) {
    require(pack(Refusal{RefusalKind::Final, error.text()}).size() <= kGreetingMax + 4, "a reason has room");
    return;
  }
  require(opening.version == kProtocolVersion, "what is answered is of this version");
  const proof::Nonces both{opening.nonce, nonces().listener};
  const wire::Bytes bytes = pack(make_challenge(own(), both));
  check(std::get<Challenge>(read_answer(wire::view_of(bytes).substr(4))), own(), both);
}

std::optional<Hello> read(wire::BytesView frame) {
  try {
    return read_hello(frame, own(), nonces());
  } catch (const Error& error) {
    require(pack(Refusal{RefusalKind::Final, error.text()}).size() <= kGreetingMax + 4, "a reason has room");
    return std::nullopt;
  }
}

void take(wire::BytesView frame) {
  take_opening(frame);
  if (const auto hello = read(frame)) {
    require(hello->expects == own().id, "an accepted worker expects this worker");
    require(proof::is_proof(hello->proof, own().secret, kProofProtocol, proof::Side::Connector, nonces()),
            "a worker that is let in knows the secret");
    for (const std::size_t files : {0U, 2U}) answer(*hello, SocketKind::Uds, files);
    answer(*hello, SocketKind::Tcp, 0);
    return;
  }
  try {
    const Answer heard = read_answer(frame);
    if (const auto* welcome = std::get_if<Welcome>(&heard)) {
      check(*welcome, make_hello(own(), 2, nonces()), SocketKind::Uds, "worker2");
      require(welcome->transport == "shm" || welcome->transport == "uds", "only what was offered is chosen");
    }
    if (const auto* challenge = std::get_if<Challenge>(&heard)) {
      check(*challenge, own(), {nonces().connector, challenge->nonce});
      require(challenge->proof != make_hello(own(), 2, nonces()).proof, "no proof is good for both sides");
    }
  } catch (const Error&) {
    return;
  }
}

void take_address(const std::string& text) {
  try {
    const Address address = parse_address(text);
    require(to_string(address) == text, "an address is written as it was read");
    for (const Place& place : address) require(socket_address(place).size > 0, "an address is one for the kernel");
  } catch (const Error&) {
    return;
  }
}

void take_stream(wire::BytesView bytes, std::size_t piece) {
  base::FdPair pair = base::make_socket_pair(SOCK_STREAM);
  GreetingLine line(std::move(pair.first));
  try {
    for (;;) {
      while (const auto frame = line.receive()) take(wire::view_of(*frame));
      if (bytes.empty()) pair.second.reset();
      if (!pair.second) continue;
      const std::size_t size = std::min(piece, bytes.size());
      if (::send(pair.second.get(), bytes.data(), size, MSG_NOSIGNAL) != static_cast<ssize_t>(size)) return;
      bytes.remove_prefix(size);
    }
  } catch (const Error&) {
    return;  // the connection ends
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  take_address(std::string(fuzz::text_of(data, size)));
  if (size > 0) take_stream(wire::view_of(data + 1, size - 1), data[0] == 0 ? 4096 : data[0]);
  return 0;
}
