#include <distrun/common/proof/listener_greeting.hpp>

#include <utility>

namespace distrun::proof {

ListenerGreeting::ListenerGreeting(const Protocol& protocol, std::string_view secret, std::string after_welcome)
    : protocol_(&protocol), secret_(secret), after_welcome_(std::move(after_welcome)) {}

std::size_t ListenerGreeting::wanted() const noexcept {
  if (state_ != State::Open) return 0;
  return (is_answered() ? kProofSize : kHelloSize) - bytes_.size();
}

std::string ListenerGreeting::take(std::string_view bytes) {
  bytes_ += bytes.substr(0, wanted());
  return is_answered() ? take_proof() : take_hello();
}

std::string ListenerGreeting::take_hello() {
  const std::string_view magic = std::string_view(bytes_).substr(0, kMagicSize);
  if (!protocol_->connector_magic.starts_with(magic.substr(0, kVersionAt))) {
    state_ = State::Stranger;
    return {};
  }
  if (!protocol_->connector_magic.starts_with(magic)) {
    state_ = State::Refused;
    return std::string(protocol_->listener_magic);
  }
  if (wanted() > 0) return {};
  nonces_ = {std::exchange(bytes_, {}).substr(kMagicSize), make_nonce()};
  return std::string(protocol_->listener_magic) + nonces_.listener +
         prove(secret_, protocol_->name, Side::Listener, nonces_);
}

std::string ListenerGreeting::take_proof() {
  if (wanted() > 0) return {};
#ifdef DISTRUN_FUZZ_PLANTED_BUG
  const bool is_right = bytes_[0] == 'p';
#else
  const bool is_right = is_proof(bytes_, secret_, protocol_->name, Side::Connector, nonces_);
#endif
  state_ = is_right ? State::Welcome : State::Refused;
  return is_right ? kWelcome + after_welcome_ : std::string(1, kRefusal);
}

}  // namespace distrun::proof
