#pragma once
// The server's side of the handshake with one client (tcp_protocol.hpp), without its socket. Takes kHelloSize and then
// proof::kProofSize bytes, and no more.
#include <cstddef>
#include <string>
#include <string_view>

#include <distrun/common/proof/proof.hpp>

namespace distrun::stores {

class ServerGreeting {
 public:
  enum class State {
    Open,      // expects more bytes
    Welcome,   // the client knows the secret
    Stranger,  // the peer is not a store's client
    Refused,   // the peer has another version or does not know the secret
  };
  // `secret` must outlive this.
  explicit ServerGreeting(std::string_view secret) noexcept : secret_(secret) {}

  State state() const noexcept { return state_; }
  // Returns whether a client that disconnects now counts as refused: it has another version, or has not proved that it
  // knows the secret. A client with another secret disconnects when it has the server's proof.
  bool is_refused() const noexcept { return state_ == State::Refused || is_answered(); }
  // Returns how many bytes take() accepts; 0 once the state is not Open.
  std::size_t wanted() const noexcept;
  // Returns what the server must send now, perhaps nothing. Throws as proof::make_nonce().
  std::string take(std::string_view bytes);

 private:
  bool is_answered() const noexcept { return !nonces_.listener.empty(); }
  std::string take_hello();
  std::string take_proof();

  const std::string_view secret_;
  State state_ = State::Open;
  std::string bytes_;
  proof::Nonces nonces_;  // the listener's is empty until the client's hello has arrived
};

}  // namespace distrun::stores
