#pragma once
// How two ends of a connection show each other that they know one secret, without sending it:
//
//   connector   its nonce
//   listener    its nonce, and prove(..., Side::Listener, nonces)
//   connector   prove(..., Side::Connector, nonces), once it has checked the listener's
//
// A proof is an HMAC-SHA-256, keyed by the secret, of the protocol's name and version, the side and both nonces. So a
// proof that was recorded is worth nothing on another connection, in another version, or for the other side. The
// connector sends nothing but random bytes to a listener that has proved nothing.
//
// What this does not do: bytes that follow are neither encrypted nor authenticated, so a process between two ends that
// passes their proofs on can read and change what they say. A listener shows its proof to every connector, which can
// try guessed secrets on it: secrets must be random, and those of a run are.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace distrun::proof {

inline constexpr std::size_t kNonceSize = 32;
inline constexpr std::size_t kProofSize = 32;

enum class Side : std::uint8_t { Connector, Listener };

struct Nonces {
  std::string connector;
  std::string listener;
};

// Returns kNonceSize bytes of the kernel's random numbers. Throws Error{Failed} if the kernel has
// no such source.
std::string make_nonce();
// Returns the kProofSize bytes that the side sends. `protocol` names the protocol and its version: "distrun-store-3".
// Throws Error{InvalidArgument} if a nonce does not have kNonceSize bytes.
std::string prove(std::string_view secret, std::string_view protocol, Side side, const Nonces& nonces);
// Returns whether `claim` is what prove() returns, in a time that does not depend on where it differs. Throws as
// prove().
bool is_proof(std::string_view claim, std::string_view secret, std::string_view protocol, Side side,
              const Nonces& nonces);

}  // namespace distrun::proof
