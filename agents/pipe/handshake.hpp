#pragma once
// The handshake of two workers, over a Unix or TCP socket. First both prove that they know the session's secret
// (proof.hpp). Then the connector sends its identity and its offers, and the listener chooses, or refuses with its
// reason.
//
//   connector   Opening   {protocol, nonce}
//   listener    Challenge {nonce, proof}
//   connector   Hello     {proof, worker, boot id, pid, seal, offers}   + memfds of its shared memory
//   listener    Welcome   {worker, pid, seal, choice, why others were not taken}            + its door
//
// Instead of either of its messages, the listener may send Refusal {kind, reason}. A listener that has not proved that
// it knows the secret gets only random bytes, and only the text of its Refusal is used.
//
// If both connect at the same time, the connection of the smaller id stays: the other end is answered Refusal{Glare},
// and waits for that connection. If they have met on a Unix socket and none of its transports fits, the answer is
// Refusal{NoTransport}, and the connector may try TCP.
//
// Each message is a frame: u32 number of bytes that follow, u8 kind of message, its fields; descriptors come with the
// first byte. Length, kind, magic and version of the first message, and a Refusal, stay the same in all versions.
//
// Each end has a seal (seal.hpp) in its memory. The listener reads the connector's seal before it chooses "cma". The
// connector then reads the listener's seal, and reports the result over the stream (link.hpp): only then both use it.
//
// Afterwards the socket is the stream (uds, tcp), or stays open and silent (shm): its end is the end of the peer.
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include <distrun/common/base/fd.hpp>
#include <distrun/common/proof/proof.hpp>
#include <distrun/common/wire/codec.hpp>
#include <distrun/runtime/rpc/worker_info.hpp>

#include <agents/pipe/seal.hpp>
#include <agents/pipe/transports/address.hpp>

namespace distrun::agents::pipe {

using rpc::WorkerId;

inline constexpr std::uint32_t kProtocolMagic = 0x64'72'70'31;  // "drp1"
inline constexpr std::uint32_t kProtocolVersion = 6;
inline constexpr int kRanksMost = 1 << 16;  // of a test; others are no ranks
inline constexpr std::string_view kProofProtocol = "distrun-pipe-5";
inline constexpr std::size_t kGreetingMax = std::size_t{16} * 1024;  // bytes of any of these messages
inline constexpr std::size_t kOffersMax = 8;                         // of transports, and of channels, in a Hello
inline constexpr std::size_t kOfferTextMax = 200;                    // bytes of each text of an offer
inline constexpr std::size_t kDescriptorsMax = 8;                    // sent with one message

// A transport or a channel that both ends must have, and what decides whether two ends of it fit.
struct Offer {
  std::string name;        // "shm", "uds", "tcp"; "cma"
  std::string descriptor;  // must be equal at both ends: "boot id=6f0c..., uid=0"; for shm: machine_descriptor()
  std::string why_not;     // not empty: why it can't be used here
};
DISTRUN_FIELDS(Offer, m.name, m.descriptor, m.why_not)

struct Opening {
  std::uint32_t magic = kProtocolMagic;
  std::uint32_t version = kProtocolVersion;
  std::string nonce;
};
DISTRUN_FIELDS(Opening, m.magic, m.version, m.nonce)

struct Challenge {
  std::string nonce;
  std::string proof;
};
DISTRUN_FIELDS(Challenge, m.nonce, m.proof)

struct Hello {
  std::string proof;
  std::string worker;  // its name
  std::int32_t id = -1;
  rpc::Incarnation incarnation = 0;
  std::int32_t expects = -1;                 // id of the worker it means to reach
  rpc::Incarnation expects_incarnation = 0;  // 0: unknown
  std::int32_t pid = 0;
  std::string address;            // its own, for a listener that does not know it
  std::vector<Offer> transports;  // most preferred first
  std::vector<Offer> channels;
  SealMark seal;
};
DISTRUN_FIELDS(Hello, m.proof, m.worker, m.id, m.incarnation, m.expects, m.expects_incarnation, m.pid, m.address,
               m.transports, m.channels, m.seal)

struct NotTaken {
  std::string name;
  std::string why;
};
DISTRUN_FIELDS(NotTaken, m.name, m.why)

struct Welcome {
  std::string worker;
  std::int32_t id = -1;
  std::int32_t pid = 0;
  std::string transport;
  std::vector<std::string> channels;  // that both may use, as far as this end can tell
  std::vector<NotTaken> not_taken;
  SealMark seal;
};
DISTRUN_FIELDS(Welcome, m.worker, m.id, m.pid, m.transport, m.channels, m.not_taken, m.seal)

enum class RefusalKind : std::uint8_t { Final, Glare, NoTransport };
struct Refusal {
  RefusalKind kind = RefusalKind::Final;
  std::string reason;
  std::int32_t because_of = -1;  // the rank that caused it, if the listener ends because of one; -1: none is known
};
DISTRUN_FIELDS(Refusal, m.kind, m.reason, m.because_of)

// Identity of this worker, and its offers, most preferred first.
struct Identity {
  std::string secret;
  std::string worker;
  WorkerId id = -1;
  std::string address;
  std::vector<Offer> transports;
  std::vector<Offer> channels;
  rpc::Incarnation incarnation = 0;
  rpc::WorkerKey key() const noexcept { return {id, incarnation}; }
};

// Returns "boot id=..., uid=...": equal for two processes that can share memory. Where the ranks run on several hosts,
// "host=node01" comes first: what a host is, distrun says, and not the boot id, which containers share.
std::string machine_descriptor();

// Return whole frames. Texts that are too long are cut. Throw Error{InvalidArgument} if the frame is still too long.
wire::Bytes pack(const Opening& opening);
wire::Bytes pack(const Challenge& challenge);
wire::Bytes pack(const Hello& hello);
wire::Bytes pack(const Welcome& welcome);
wire::Bytes pack(const Refusal& refusal);

// `nonces` has both.
Challenge make_challenge(const Identity& own, const proof::Nonces& nonces);
Hello make_hello(const Identity& own, rpc::WorkerKey expects, const proof::Nonces& nonces);
// Take a frame without its length. Throw Error{InvalidArgument} with the reason to refuse it: it is malformed, has
// another version, a wrong proof, or invalid texts, or is for another worker.
Opening read_opening(wire::BytesView frame);
Hello read_hello(wire::BytesView frame, const Identity& own, const proof::Nonces& nonces);

struct Choice {
  std::string transport;  // empty: none fits
  std::vector<std::string> channels;
  std::vector<NotTaken> not_taken;
};
// Chooses the first of this worker's transports that both can use over a socket of that kind and with that number of
// received descriptors, and all channels that both can use.
Choice choose(const Identity& own, const Hello& hello, SocketKind socket, std::size_t files);
std::string reasons(const std::vector<NotTaken>& not_taken);  // "shm: not offered by the peer; uds: ..."

using Answer = std::variant<Challenge, Welcome, Refusal>;
// Takes a frame without its length. Throws Error{InvalidArgument} if it is none of these messages.
Answer read_answer(wire::BytesView frame);
// Throws Error{InvalidArgument} if the listener does not know the secret. `nonces` has both.
void check(const Challenge& challenge, const Identity& own, const proof::Nonces& nonces);
// Removes "cma" from the chosen channels if this process can't read the peer's memory, and returns why; empty: it can.
// Returns nullopt if "cma" was not chosen.
std::optional<std::string> prove(std::vector<std::string>& channels, std::vector<NotTaken>& not_taken, std::int32_t pid,
                                 const SealMark& seal);
// Throws Error{InvalidArgument} if the answer is not from that worker, or does not match the offers.
void check(const Welcome& welcome, const Hello& hello, SocketKind socket, const std::string& peer_name);

}  // namespace distrun::agents::pipe
