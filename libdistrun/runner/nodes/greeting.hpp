#pragma once
// The handshake between a node, which connects, and its coordinator, which listens; both sides, without their sockets.
//
//   node          magic, its nonce
//   coordinator   magic, its nonce, its proof (common/proof)
//   node          its proof, if the coordinator's is right
//   coordinator   'y', or 'n' if the node's is wrong
//
// The magics contain the version and never change otherwise. To a node of another version the coordinator sends its
// magic alone; a peer that does not begin with a magic gets no answer. Frames follow (link_messages.hpp).
#include <cstddef>
#include <string>
#include <string_view>

#include <distrun/common/proof/proof.hpp>

namespace distrun::nodes {

inline constexpr std::string_view kNodeProtocol = "distrun-node-1";
inline constexpr std::string_view kNodeMagic = "dsnode-1";
inline constexpr std::string_view kCoordinatorMagic = "dsnode+1";
inline constexpr std::size_t kMagicSize = 8;
inline constexpr std::size_t kVersionAt = 7;  // in both magics
inline constexpr std::size_t kHelloSize = kMagicSize + proof::kNonceSize;
inline constexpr std::size_t kAnswerSize = kMagicSize + proof::kNonceSize + proof::kProofSize;

// Both sides: take() accepts wanted() bytes, in any pieces, and returns what must be sent now, perhaps nothing.

// The coordinator's side. Takes kHelloSize and then proof::kProofSize bytes.
class CoordinatorGreeting {
 public:
  enum class State {
    Open,      // expects more bytes
    Welcome,   // the peer knows the secret
    Stranger,  // the peer is not a node
    Refused,   // the peer has another version or does not know the secret
  };
  // `secret` must outlive this.
  explicit CoordinatorGreeting(std::string_view secret) noexcept : secret_(secret) {}

  State state() const noexcept { return state_; }
  std::size_t wanted() const noexcept;  // 0 once the state is not Open
  std::string take(std::string_view bytes);

 private:
  bool is_answered() const noexcept { return !nonces_.listener.empty(); }
  std::string take_hello();
  std::string take_proof();

  std::string_view secret_;
  State state_ = State::Open;
  std::string bytes_;
  proof::Nonces nonces_;  // the listener's is empty until the hello has arrived
};

// The node's side. Takes kMagicSize bytes, a nonce with a proof, and a verdict.
class NodeGreeting {
 public:
  enum class State { Open, Welcome, Refused };
  // `secret` must outlive this.
  explicit NodeGreeting(std::string_view secret) noexcept : secret_(secret) {}

  // Returns what the node sends first: nothing but a magic and random bytes.
  std::string hello();
  State state() const noexcept { return state_; }
  std::size_t wanted() const noexcept;  // 0 once the state is not Open
  std::string take(std::string_view bytes);
  // Returns what is wrong with the coordinator: "it does not know this run's secret"; empty unless it is Refused.
  const std::string& why() const noexcept { return why_; }

 private:
  enum class Step { Magic, Proof, Verdict };
  void take_magic();
  std::string take_proof();
  void take_verdict();
  void refuse(std::string why);

  std::string_view secret_;
  State state_ = State::Open;
  Step step_ = Step::Magic;
  std::string bytes_;
  proof::Nonces nonces_;
  std::string why_;
};

}  // namespace distrun::nodes
