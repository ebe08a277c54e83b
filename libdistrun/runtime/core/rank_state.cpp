#include <distrun/runtime/core/rank_state.hpp>

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <fstream>
#include <new>
#include <string>
#include <utility>

#include <distrun/common/base/if_memory.hpp>
#include <distrun/runtime/core/hosts.hpp>
#include <distrun/runtime/core/shared_memory.hpp>
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

// The failure does not change while calling_ is held.
void RankState::fail_peer(PeerFailure failure) noexcept {
  const std::lock_guard calling(calling_);
  {
    const std::lock_guard lock(mutex_);
    if (failure_) return;
    failure_ = std::move(failure);
    has_failed_.store(true, std::memory_order_release);
  }
  for (const auto& [who, call] : calls_) call(*failure_);
}

void RankState::lose_peer(int rank) noexcept {
  const std::lock_guard calling(calling_);
  if (is_rank(rank)) {
    const std::lock_guard lock(mutex_);
    dead_.set(static_cast<std::size_t>(rank));
  }
  for (const auto& [who, call] : death_calls_) call(rank);
}

void RankState::note_death(Death found) {
  const std::lock_guard lock(mutex_);
  if (!noted_death_ && is_rank(found.rank) && !is_dead(found.rank) && found.pid > 0) noted_death_ = found;
}

// It may have been declared since it was noted.
std::optional<Death> RankState::noted_death() const {
  const std::lock_guard lock(mutex_);
  return noted_death_ && is_dead(noted_death_->rank) ? std::nullopt : noted_death_;
}

void RankState::forget_failure() {
  const std::lock_guard calling(calling_);
  const std::lock_guard lock(mutex_);
  dead_.reset();
  noted_death_.reset();
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

PeerDiedCall::PeerDiedCall(RankState& rank, std::function<void(int rank)> call) : rank_(rank) {
  const std::lock_guard calling(rank_.calling_);
  const auto& dead = rank_.dead_;
  for (std::size_t each = 0, left = dead.count(); left > 0; ++each) {
    if (!dead.test(each)) continue;
    call(static_cast<int>(each));
    --left;
  }
  rank_.death_calls_.emplace(this, std::move(call));
}

PeerDiedCall::~PeerDiedCall() {
  const std::lock_guard calling(rank_.calling_);
  rank_.death_calls_.erase(this);
}

namespace {

constexpr int kRanksLookedAt = 256;

// 0: it is not known, or there is no memory to look; or the rank is on another host, where the number has a meaning.
int pid_of(const RankLine& line, int rank) noexcept {
  const auto look = [&] {
    if (!known_hosts().is_here(rank)) return 0;
    const auto shown = line.look_at(rank);
    return shown ? shown->pid : 0;
  };
  return base::if_memory(look, [] { return 0; });
}

// A thread's flags follow its name in "stat", which may contain anything: " S 1 4711 4711 0 -1 4194304 ...".
bool thread_is_ending(const std::filesystem::path& task) {
  constexpr unsigned long kExiting = 0x4;  // PF_EXITING, since the first kernels
  std::string stat;
  std::getline(std::ifstream(task / "stat"), stat, '\0');
  const std::size_t name_end = stat.rfind(')');
  unsigned long flags = 0;
  if (name_end == std::string::npos) return true;  // it is gone
  const int found = std::sscanf(stat.c_str() + name_end + 1, " %*c %*d %*d %*d %*d %*d %lu", &flags);
  return found != 1 || (flags & kExiting) != 0;
}

}  // namespace

// A process's descriptors are closed once all of its threads are ending, some time before it is dead.
bool is_ending(int pid) noexcept {
  if (!is_alive(pid)) return true;
  try {
    const std::filesystem::directory_iterator tasks("/proc/" + std::to_string(pid) + "/task");
    return std::all_of(begin(tasks), end(tasks), [](const auto& task) { return thread_is_ending(task.path()); });
  } catch (const std::exception&) {
    return !is_alive(pid);  // it may be gone by now
  }
}

int rank_of_peer(int id, int pid) noexcept {
  const RankLine* const line = rank_state().line();
  if (line == nullptr) return -1;
  const int its_pid = id >= 0 ? pid_of(*line, id) : 0;
  if (its_pid != 0 && (pid == 0 || pid == its_pid)) return id;
  if (pid == 0 || pid == ::getpid()) return -1;
  for (int rank = 0; rank < kRanksLookedAt; ++rank) {
    if (pid_of(*line, rank) == pid) return rank;
  }
  return -1;
}

int rank_of_dead(int rank) noexcept {
  const RankLine* const line = rank_state().line();
  const int pid = line != nullptr && rank >= 0 ? pid_of(*line, rank) : 0;
  return pid != 0 && is_ending(pid) ? rank : -1;
}

// Never destroyed: threads may wait until the process ends. Does not allocate, as its callers must not fail.
RankState& process_rank_state() noexcept {
  alignas(RankState) static std::array<std::byte, sizeof(RankState)> memory;
  static auto* const state = new (memory.data()) RankState;
  return *state;
}

RankState& rank_state() noexcept {
  RankState* const own = thread_state().rank;
  return own != nullptr ? *own : process_rank_state();
}

}  // namespace distrun::core
