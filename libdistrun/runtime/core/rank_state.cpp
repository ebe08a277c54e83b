#include <distrun/runtime/core/rank_state.hpp>

#include <utility>

#include <distrun/runtime/core/thread_state.hpp>

namespace distrun::core {

void* RankState::make(Part part, const std::function<std::shared_ptr<void>()>& maker) {
  const auto index = static_cast<std::size_t>(part);
  const std::lock_guard lock(mutex_);
  if (owned_[index] == nullptr) {
    owned_[index] = maker();
    parts_[index].store(owned_[index].get(), std::memory_order_release);
  }
  return owned_[index].get();
}

std::optional<PeerFailure> RankState::peer_failure() const {
  const std::lock_guard lock(mutex_);
  return failure_;
}

void RankState::fail_peer(PeerFailure failure) {
  const std::lock_guard calling(calling_);
  {
    const std::lock_guard lock(mutex_);
    if (failure_) return;
    failure_ = failure;
    has_failed_.store(true, std::memory_order_release);
  }
  for (const auto& [who, call] : calls_) call(failure);
}

void RankState::forget_failure() {
  const std::lock_guard lock(mutex_);
  failure_.reset();
  has_failed_.store(false, std::memory_order_release);
}

PeerFailedCall::PeerFailedCall(RankState& rank, RankState::Call call) : rank_(rank) {
  const std::lock_guard calling(rank_.calling_);
  if (const auto failure = rank_.peer_failure()) call(*failure);
  rank_.calls_.emplace(this, std::move(call));
}

PeerFailedCall::~PeerFailedCall() {
  const std::lock_guard calling(rank_.calling_);
  rank_.calls_.erase(this);
}

// Never destroyed: threads may wait until the process ends.
RankState& process_rank_state() noexcept {
  static auto* const state = new RankState;  // NOLINT(bugprone-unhandled-exception-at-new): nothing goes on without
  return *state;
}

RankState& rank_state() noexcept {
  RankState* const own = thread_state().rank;
  return own != nullptr ? *own : process_rank_state();
}

}  // namespace distrun::core
