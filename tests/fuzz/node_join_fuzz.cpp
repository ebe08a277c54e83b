// A peer's input to a node's beginning: the first byte tells which side reads it (the coordinator's or the node's side
// of the handshake, or the Join), the second the size of the pieces. No handshake succeeds: the input was written
// before the nonce that its proof would have to answer.
#include <algorithm>

#include <distrun/common/base/error.hpp>
#include <distrun/runner/nodes/greeting.hpp>
#include <distrun/runner/nodes/host_list.hpp>
#include <distrun/runner/nodes/link_messages.hpp>

#include "fuzz.hpp"

using namespace distrun::nodes;
using distrun::fuzz::require;

namespace {

template <class Greeting>
void greet(Greeting& greeting, std::string_view rest, std::size_t piece, std::size_t takes, std::size_t says) {
  using State = typename Greeting::State;
  std::size_t taken = 0, said = 0;
  while (!rest.empty() && greeting.wanted() > 0) {
    const std::size_t count = std::min({piece, greeting.wanted(), rest.size()});
    said += greeting.take(rest.substr(0, count)).size();
    rest.remove_prefix(count);
    taken += count;
  }
  require(taken <= takes, "no more bytes are taken than a handshake has");
  require(said <= says, "no more bytes are sent than an answer has");
  require(greeting.state() != State::Welcome, "a peer without the secret is not welcome");
  require(greeting.state() == State::Open || greeting.wanted() == 0, "what is over takes nothing");
}

void join(std::string_view bytes) {
  try {
    const Join join = read_join(distrun::wire::view_of(bytes.data(), bytes.size()));
    require(is_host_name(join.host), "a node that joins has the name of a host");
    require(join.addresses.size() <= bytes.size(), "a list has no more elements than bytes");
  } catch (const distrun::Error&) {
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return 0;
  const std::size_t piece = std::max<std::size_t>(1, data[1]);
  const std::string_view rest = distrun::fuzz::text_of(data + 2, size - 2);
  if (data[0] % 3 == 0) {
    distrun::proof::ListenerGreeting greeting(kNodeHandshake, "secret");
    greet(greeting, rest, piece, kHelloSize + distrun::proof::kProofSize, kAnswerSize + 1);
  } else if (data[0] % 3 == 1) {
    NodeGreeting greeting("secret");
    (void)greeting.hello();
    greet(greeting, rest, piece, kAnswerSize + 1, distrun::proof::kProofSize);
    require(greeting.state() == NodeGreeting::State::Open || !greeting.why().empty(), "a refusal has a reason");
  } else {
    join(rest);
  }
  return 0;
}
