#include <distrun/runtime/core/wait.hpp>

#include <distrun/common/base/error.hpp>

namespace distrun::core {

WaitObserver*& wait_observer() noexcept {
  constinit thread_local WaitObserver* observer = nullptr;
  return observer;
}

void throw_peer_failed(std::string_view doing, base::Location where) {
  const auto failure = rank_state().peer_failure().value_or(PeerFailure{-1, "a peer has failed"});
  throw base::PeerFailed(std::string(doing) + ": " + failure.why, failure.rank, where);
}

}  // namespace distrun::core
