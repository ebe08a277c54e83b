#include <distrun/runner/nodes/greeting.hpp>

#include <utility>

#include <distrun/common/base/text.hpp>

namespace distrun::nodes {

std::string NodeGreeting::hello() {
  nonces_.connector = proof::make_nonce();
  return std::string(kNodeHandshake.connector_magic) + nonces_.connector;
}

std::size_t NodeGreeting::wanted() const noexcept {
  if (state_ != State::Open) return 0;
  const std::size_t size = step_ == Step::Magic   ? kMagicSize
                           : step_ == Step::Proof ? proof::kNonceSize + proof::kProofSize
                                                  : 1;
  return size - bytes_.size();
}

std::string NodeGreeting::take(std::string_view bytes) {
  bytes_ += bytes.substr(0, wanted());
  if (state_ != State::Open || wanted() > 0) return {};
  if (step_ == Step::Proof) return take_proof();
  step_ == Step::Magic ? take_magic() : take_verdict();
  return {};
}

void NodeGreeting::take_magic() {
  const std::string magic = std::exchange(bytes_, {});
  step_ = Step::Proof;
  if (magic == kNodeHandshake.listener_magic) return;
  if (magic.substr(0, proof::kVersionAt) != kNodeHandshake.listener_magic.substr(0, proof::kVersionAt)) {
    return refuse("it is not a coordinator of distrun");
  }
  refuse("it speaks version " + base::one_line(magic.substr(proof::kVersionAt), 8) +
         " of the protocol of nodes, this node " + "version " + kNodeHandshake.listener_magic[proof::kVersionAt] +
         "; use the same version of distrun on all hosts");
}

std::string NodeGreeting::take_proof() {
  const std::string bytes = std::exchange(bytes_, {});
  step_ = Step::Verdict;
  nonces_.listener = bytes.substr(0, proof::kNonceSize);
  const std::string_view claim = std::string_view(bytes).substr(proof::kNonceSize);
  if (!proof::is_proof(claim, secret_, kNodeHandshake.name, proof::Side::Listener, nonces_)) {
    refuse("it does not know this run's secret");
    return {};
  }
  return proof::prove(secret_, kNodeHandshake.name, proof::Side::Connector, nonces_);
}

void NodeGreeting::take_verdict() {
  if (bytes_[0] != proof::kWelcome) return refuse("it refuses this node's proof of the run's secret");
  state_ = State::Welcome;
}

void NodeGreeting::refuse(std::string why) {
  state_ = State::Refused;
  why_ = std::move(why);
}

}  // namespace distrun::nodes
