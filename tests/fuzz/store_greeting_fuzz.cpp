// A client's input to a handshake with a store's server, after a byte that tells the size of the pieces. Any input is
// refused: it cannot have the proof for a nonce drawn after it was written.
#include <algorithm>

#include <distrun/common/store_server/tcp_protocol.hpp>

#include "fuzz.hpp"

using namespace distrun::stores;
using distrun::fuzz::require;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::size_t piece = std::max<std::size_t>(1, data[0]);
  std::string_view rest = distrun::fuzz::text_of(data + 1, size - 1);
  distrun::proof::ListenerGreeting greeting(kHandshake, "secret");
  using State = distrun::proof::ListenerGreeting::State;
  std::size_t taken = 0, said = 0;
  while (!rest.empty() && greeting.wanted() > 0) {
    const std::size_t count = std::min({piece, greeting.wanted(), rest.size()});
    said += greeting.take(rest.substr(0, count)).size();
    rest.remove_prefix(count);
    taken += count;
  }
  require(taken <= kHelloSize + distrun::proof::kProofSize, "no more bytes are taken than a handshake has");
  require(said <= kAnswerSize + 1, "no more bytes are sent than an answer has");
  require(greeting.state() != State::Welcome, "a client without the secret is not welcome");
  require(greeting.state() == State::Open || greeting.wanted() == 0, "what is over takes nothing");
  return 0;
}
