#include <distrun/common/store_server/server_greeting.hpp>

#include <unistd.h>

#include <cstdint>
#include <utility>

#include <distrun/common/store_server/tcp_protocol.hpp>

namespace distrun::stores {

std::size_t ServerGreeting::wanted() const noexcept {
  if (state_ != State::Open) return 0;
  return (is_answered() ? proof::kProofSize : kHelloSize) - bytes_.size();
}

std::string ServerGreeting::take(std::string_view bytes) {
  bytes_ += bytes.substr(0, wanted());
  return is_answered() ? take_proof() : take_hello();
}

std::string ServerGreeting::take_hello() {
  const std::string_view begin = std::string_view(bytes_).substr(0, kMagicSize);
  if (!kClientMagic.starts_with(begin.substr(0, kVersionAt))) {
    state_ = State::Stranger;
    return {};
  }
  if (!kClientMagic.starts_with(begin)) {
    state_ = State::Refused;
    return std::string(kServerMagic);
  }
  if (wanted() > 0) return {};
  nonces_.connector = std::exchange(bytes_, {}).substr(kMagicSize);
  nonces_.listener = proof::make_nonce();
  return std::string(kServerMagic) + nonces_.listener +
         proof::prove(secret_, kProofProtocol, proof::Side::Listener, nonces_);
}

std::string ServerGreeting::take_proof() {
  if (wanted() > 0) return {};
#ifdef DISTRUN_FUZZ_PLANTED_BUG
  const bool is_right = bytes_[0] == 'p';
#else
  const bool is_right = proof::is_proof(bytes_, secret_, kProofProtocol, proof::Side::Connector, nonces_);
#endif
  state_ = is_right ? State::Welcome : State::Refused;
  if (!is_right) return std::string(1, kRefusal);
  const std::int32_t pid = ::getpid();
  return std::string(1, kWelcome).append(reinterpret_cast<const char*>(&pid), sizeof pid);
}

}  // namespace distrun::stores
