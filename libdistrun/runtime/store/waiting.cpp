#include <distrun/runtime/store/waiting.hpp>

#include <algorithm>
#include <utility>

#include <distrun/common/store_server/key_table.hpp>
#include <distrun/runtime/store/awaited_ranks.hpp>

namespace distrun::stores {
namespace {

thread_local const AwaitedRanks* awaited_ranks = nullptr;

}  // namespace

AwaitedRanks::AwaitedRanks(std::vector<int> ranks, std::vector<int> fatal) noexcept
    : ranks_(std::move(ranks)), fatal_(std::move(fatal)), outer_(std::exchange(awaited_ranks, this)) {}
AwaitedRanks::~AwaitedRanks() { awaited_ranks = outer_; }
const AwaitedRanks* AwaitedRanks::current() noexcept { return awaited_ranks; }

// The first look is not immediate: a key that exists arrives sooner.
AwaitedDeaths::AwaitedDeaths() noexcept : next_(base::system_clock().now() + kLook) {}

bool AwaitedDeaths::may_look() noexcept {
  const AwaitedRanks* const awaited = AwaitedRanks::current();
  if (awaited == nullptr || awaited->fatal().empty() || core::rank_state().line() == nullptr) return false;
  const base::TimePoint now = base::system_clock().now();
  if (now < next_) return false;
  next_ = now + kLook;
  return true;
}

std::optional<core::Death> AwaitedDeaths::find() {
  if (!may_look()) return std::nullopt;
  for (const int rank : AwaitedRanks::current()->fatal()) {
    if (const auto death = core::death_of(rank)) return death;
  }
  return std::nullopt;
}

base::TimePoint AwaitedDeaths::next(base::TimePoint deadline) const noexcept {
  const AwaitedRanks* const awaited = AwaitedRanks::current();
  const bool looks = awaited != nullptr && !awaited->fatal().empty() && core::rank_state().line() != nullptr;
  return looks ? std::min(deadline, next_) : deadline;
}

void throw_awaited_death(std::string_view doing, const core::Death& death, base::Location site) {
  core::rank_state().note_death(death);
  throw base::PeerFailed(std::string(doing) + ": " + core::text_of(death), death.rank, site);
}

std::string awaited_text() {
  const AwaitedRanks* const awaited = AwaitedRanks::current();
  return awaited == nullptr || awaited->ranks().empty() ? "" : "; from " + core::what_they_do(awaited->ranks());
}

board::WaitInfo wait_for(const Request& request, std::string& name, base::Location site) {
  name = request.keys.empty() ? name_of(request.op) : request.keys[0];
  if (request.keys.size() > 1) name += " and " + std::to_string(request.keys.size() - 1) + " more";
  board::WaitInfo info;
  info.kind = board::WaitKind::StoreGet;
  info.name = name;
  info.site = site;
  if (const AwaitedRanks* const awaited = AwaitedRanks::current()) {
    info.rule = board::PeerRule::All;
    for (const int rank : awaited->ranks()) info.peers.add(rank);
  }
  return info;
}

Error timeout_error(base::Nanoseconds timeout, const std::vector<std::string>& missing, base::Location site) {
  return Error(ErrorKind::Timeout, "DistStoreError", timeout_text(timeout, missing) + awaited_text(), site);
}

}  // namespace distrun::stores
