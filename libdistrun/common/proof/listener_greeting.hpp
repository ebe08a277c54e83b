#pragma once
// The listener's side of a handshake with one connector, without its socket:
//
//   connector   its magic, its nonce
//   listener    its magic, its nonce, its proof (proof.hpp)
//   connector   its proof, if the listener's is right
//   listener    kWelcome and what else the protocol says then; or kRefusal, if the connector's proof is wrong
//
// The last character of a magic is the version; the rest never changes. A connector of another version gets the
// listener's magic alone; a peer that does not begin with the connector's magic gets no answer.
#include <cstddef>
#include <string>
#include <string_view>

#include <distrun/common/proof/proof.hpp>

namespace distrun::proof {

inline constexpr std::size_t kMagicSize = 8;
inline constexpr std::size_t kVersionAt = 7;  // in both magics
inline constexpr std::size_t kHelloSize = kMagicSize + kNonceSize;
inline constexpr std::size_t kAnswerSize = kMagicSize + kNonceSize + kProofSize;
inline constexpr char kWelcome = 'y';
inline constexpr char kRefusal = 'n';

// Constants of a protocol, which live as long as the process.
struct Protocol {
  std::string_view name;  // with its version: "distrun-store-3"
  std::string_view connector_magic;
  std::string_view listener_magic;
};

// Takes kHelloSize and then kProofSize bytes, and no more.
class ListenerGreeting {
 public:
  enum class State {
    Open,      // expects more bytes
    Welcome,   // the connector knows the secret
    Stranger,  // the peer does not speak the protocol
    Refused,   // the peer has another version or does not know the secret
  };
  // `protocol` and `secret` must outlive this. `after_welcome` is sent behind kWelcome.
  ListenerGreeting(const Protocol& protocol, std::string_view secret, std::string after_welcome = {});

  State state() const noexcept { return state_; }
  // Returns whether a connector that disconnects now counts as refused: it has another version, or has not proved that
  // it knows the secret. A connector with another secret disconnects when it has the listener's proof.
  bool is_refused() const noexcept { return state_ == State::Refused || is_answered(); }
  // Returns how many bytes take() accepts; 0 once the state is not Open.
  std::size_t wanted() const noexcept;
  // Accepts wanted() bytes, in any pieces. Returns what the listener must send now, perhaps nothing. Throws as
  // make_nonce().
  std::string take(std::string_view bytes);

 private:
  bool is_answered() const noexcept { return !nonces_.listener.empty(); }
  std::string take_hello();
  std::string take_proof();

  const Protocol* protocol_;
  std::string_view secret_;
  std::string after_welcome_;
  State state_ = State::Open;
  std::string bytes_;
  Nonces nonces_;  // the listener's is empty until the hello has arrived
};

}  // namespace distrun::proof
