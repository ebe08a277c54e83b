#pragma once
// The handshake between a node, which connects, and its coordinator, which listens (proof/listener_greeting.hpp): its
// constants, and the node's side without its socket. Frames follow (link_messages.hpp).
#include <cstddef>
#include <string>
#include <string_view>

#include <distrun/common/proof/listener_greeting.hpp>

namespace distrun::nodes {

using proof::kAnswerSize;
using proof::kHelloSize;
using proof::kMagicSize;

inline constexpr proof::Protocol kNodeHandshake{"distrun-node-1", "dsnode-1", "dsnode+1"};

// Takes kMagicSize bytes, a nonce with a proof, and a verdict.
class NodeGreeting {
 public:
  enum class State { Open, Welcome, Refused };
  // `secret` must outlive this.
  explicit NodeGreeting(std::string_view secret) noexcept : secret_(secret) {}

  // Returns what the node sends first: nothing but a magic and random bytes.
  std::string hello();
  State state() const noexcept { return state_; }
  std::size_t wanted() const noexcept;  // 0 once the state is not Open
  // Accepts wanted() bytes, in any pieces. Returns what the node must send now, perhaps nothing.
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
