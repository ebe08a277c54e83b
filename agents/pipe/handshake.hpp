#pragma once
// How two workers meet: over a Unix or TCP socket. First both prove that they know the session's secret (proof.hpp),
// then who connects says who it is and offers what it has; who is connected to chooses, or refuses with its reason.
//
//   connector   Opening   {protocol, nonce}
//   listener    Challenge {nonce, proof}
//   connector   Hello     {proof, worker, boot id, pid, seal, offers}   + memfds of its shared memory
//   listener    Welcome   {worker, pid, seal, choice, why others were not taken}            + its door
//
// In the place of either of its messages, the listener may send Refusal {kind, reason}. A listener that has not proved
// that it knows the secret gets nothing but random bytes, and nothing but the text of its Refusal is believed.
//
// If both connect at the same time, the connection of the one with the smaller id stays: the other one is answered
// Refusal{Glare}, and waits for the connection that is on its way. If they have met on a Unix socket and none of its
// transports fits, the answer is Refusal{NoTransport}, and who connects may try TCP.
//
// Each message is a frame: u32 how many bytes follow, u8 which message, its fields; files come with the first byte.
// Length, kind, magic and version of the first one, and a Refusal, stay what they are in all versions.
//
// Each end has a seal (seal.hpp) in its memory. Who is connected to reads the other one's before it chooses "cma", who
// connects reads that of who has chosen it, and says over the stream what has come of it (link.hpp): only then both use
// it.
//
// Afterwards the socket is the stream (uds, tcp), or stays open and silent (shm): its end is the end of the peer.
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include <distrun/common/base/fd.hpp>
#include <distrun/common/wire/codec.hpp>
#include <distrun/runtime/proof/proof.hpp>
#include <distrun/runtime/rpc/worker_info.hpp>

#include <agents/pipe/seal.hpp>
#include <agents/pipe/transports/address.hpp>

namespace distrun::agents::pipe {

using rpc::WorkerId;

inline constexpr std::uint32_t kProtocolMagic = 0x64'72'70'31;  // "drp1"
inline constexpr std::uint32_t kProtocolVersion = 5;
inline constexpr std::string_view kProofProtocol = "distrun-pipe-5";
inline constexpr std::size_t kGreetingMax = std::size_t{16} * 1024;  // bytes of any of these messages
inline constexpr std::size_t kOffersMax = 8;                         // transports, and channels, of a Hello
inline constexpr std::size_t kOfferTextMax = 200;                    // bytes of each of its texts
inline constexpr std::size_t kDescriptorsMax = 8;                    // files that come with a message

// Something that both ends must have: a transport or a channel, and what tells whether two ends of it fit.
struct Offer {
  std::string name;        // "shm", "uds", "tcp"; "cma"
  std::string descriptor;  // must be the same at both ends: "boot id=6f0c..., uid=0"; for shm: machine_descriptor()
  std::string why_not;     // not empty: it can't be used here, and why
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
  std::int32_t expects = -1;                 // whom it thinks to talk to
  rpc::Incarnation expects_incarnation = 0;  // 0: it does not know
  std::int32_t pid = 0;
  std::string address;            // its own, for whoever did not know it
  std::vector<Offer> transports;  // its favourite first
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
  std::vector<std::string> channels;  // those that both may use, as far as this end can tell
  std::vector<NotTaken> not_taken;
  SealMark seal;
};
DISTRUN_FIELDS(Welcome, m.worker, m.id, m.pid, m.transport, m.channels, m.not_taken, m.seal)

enum class RefusalKind : std::uint8_t { Final, Glare, NoTransport };
struct Refusal {
  RefusalKind kind = RefusalKind::Final;
  std::string reason;
};
DISTRUN_FIELDS(Refusal, m.kind, m.reason)

// Who this worker is, and what it offers, its favourite first.
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

// "boot id=..., uid=...": equal for two processes that can share memory.
std::string machine_descriptor();

// Whole frames. Texts that are too long for one are cut; throws Error{InvalidArgument} if it is too long even so.
wire::Bytes pack(const Opening& opening);
wire::Bytes pack(const Challenge& challenge);
wire::Bytes pack(const Hello& hello);
wire::Bytes pack(const Welcome& welcome);
wire::Bytes pack(const Refusal& refusal);

// Of both nonces.
Challenge make_challenge(const Identity& own, const proof::Nonces& nonces);
Hello make_hello(const Identity& own, rpc::WorkerKey expects, const proof::Nonces& nonces);
// What has come without the length. These throw Error{InvalidArgument} with the reason to refuse it: it is none, has
// another version, a wrong proof, or texts that can't be; it is for another worker.
Opening read_opening(wire::BytesView frame);
Hello read_hello(wire::BytesView frame, const Identity& own, const proof::Nonces& nonces);

struct Choice {
  std::string transport;  // empty: none fits
  std::vector<std::string> channels;
  std::vector<NotTaken> not_taken;
};
// The first of this worker's transports that both can use, over a socket of that kind and with so many files that came
// along, and all channels that both can use.
Choice choose(const Identity& own, const Hello& hello, SocketKind socket, std::size_t files);
std::string reasons(const std::vector<NotTaken>& not_taken);  // "shm: not offered by the peer; uds: ..."

using Answer = std::variant<Challenge, Welcome, Refusal>;
// As it came, without the length. Throws Error{InvalidArgument} if it is none of these.
Answer read_answer(wire::BytesView frame);
// Throws Error{InvalidArgument} if the listener does not know the secret. `nonces` has both.
void check(const Challenge& challenge, const Identity& own, const proof::Nonces& nonces);
// Of channels that were chosen: takes away "cma" where this process can't read the memory of the peer, and returns why;
// empty: it can. Nothing: it was not chosen.
std::optional<std::string> prove(std::vector<std::string>& channels, std::vector<NotTaken>& not_taken, std::int32_t pid,
                                 const SealMark& seal);
// Throws Error{InvalidArgument} if it is not the answer of that worker to what was offered.
void check(const Welcome& welcome, const Hello& hello, SocketKind socket, const std::string& peer_name);

}  // namespace distrun::agents::pipe
