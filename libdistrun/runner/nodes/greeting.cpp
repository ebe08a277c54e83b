#include <distrun/runner/nodes/greeting.hpp>

#include <utility>

#include <distrun/common/base/text.hpp>

namespace distrun::nodes {
namespace {

constexpr char kYes = 'y';
constexpr char kNo = 'n';

}  // namespace

std::size_t CoordinatorGreeting::wanted() const noexcept {
  if (state_ != State::Open) return 0;
  return (is_answered() ? proof::kProofSize : kHelloSize) - bytes_.size();
}

std::string CoordinatorGreeting::take(std::string_view bytes) {
  bytes_ += bytes.substr(0, wanted());
  return is_answered() ? take_proof() : take_hello();
}

std::string CoordinatorGreeting::take_hello() {
  const std::string_view magic = std::string_view(bytes_).substr(0, kMagicSize);
  if (!kNodeMagic.starts_with(magic.substr(0, kVersionAt))) {
    state_ = State::Stranger;
    return {};
  }
  if (!kNodeMagic.starts_with(magic)) {
    state_ = State::Refused;
    return std::string(kCoordinatorMagic);
  }
  if (wanted() > 0) return {};
  nonces_ = {std::exchange(bytes_, {}).substr(kMagicSize), proof::make_nonce()};
  return std::string(kCoordinatorMagic) + nonces_.listener +
         proof::prove(secret_, kNodeProtocol, proof::Side::Listener, nonces_);
}

std::string CoordinatorGreeting::take_proof() {
  if (wanted() > 0) return {};
#ifdef DISTRUN_FUZZ_PLANTED_BUG
  const bool is_right = bytes_[0] == 'p';
#else
  const bool is_right = proof::is_proof(bytes_, secret_, kNodeProtocol, proof::Side::Connector, nonces_);
#endif
  state_ = is_right ? State::Welcome : State::Refused;
  return std::string(1, is_right ? kYes : kNo);
}

std::string NodeGreeting::hello() {
  nonces_.connector = proof::make_nonce();
  return std::string(kNodeMagic) + nonces_.connector;
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
  if (magic == kCoordinatorMagic) return;
  if (magic.substr(0, kVersionAt) != kCoordinatorMagic.substr(0, kVersionAt)) {
    return refuse("it is not a coordinator of distrun");
  }
  refuse("it speaks version " + base::one_line(magic.substr(kVersionAt), 8) + " of the protocol of nodes, this node " +
         "version " + kCoordinatorMagic[kVersionAt] + "; use the same version of distrun on all hosts");
}

std::string NodeGreeting::take_proof() {
  const std::string bytes = std::exchange(bytes_, {});
  step_ = Step::Verdict;
  nonces_.listener = bytes.substr(0, proof::kNonceSize);
  const std::string_view claim = std::string_view(bytes).substr(proof::kNonceSize);
  if (!proof::is_proof(claim, secret_, kNodeProtocol, proof::Side::Listener, nonces_)) {
    refuse("it does not know this run's secret");
    return {};
  }
  return proof::prove(secret_, kNodeProtocol, proof::Side::Connector, nonces_);
}

void NodeGreeting::take_verdict() {
  if (bytes_[0] != kYes) return refuse("it refuses this node's proof of the run's secret");
  state_ = State::Welcome;
}

void NodeGreeting::refuse(std::string why) {
  state_ = State::Refused;
  why_ = std::move(why);
}

}  // namespace distrun::nodes
