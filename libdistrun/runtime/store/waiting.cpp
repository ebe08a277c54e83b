#include <distrun/runtime/store/waiting.hpp>

#include <utility>

#include <distrun/runtime/store/awaited_ranks.hpp>

namespace distrun::stores {
namespace {

constexpr base::Nanoseconds kRounded = std::chrono::milliseconds(1);  // longer ones, to whole milliseconds

thread_local const std::vector<int>* awaited_ranks = nullptr;

}  // namespace

// Between a deadline and when it was set lie microseconds less than what was asked for.
std::string human_timeout(base::Nanoseconds timeout) {
  return base::human(timeout < kRounded ? timeout : std::chrono::ceil<base::Milliseconds>(timeout));
}

AwaitedRanks::AwaitedRanks(std::vector<int> ranks) noexcept
    : ranks_(std::move(ranks)), outer_(std::exchange(awaited_ranks, &ranks_)) {}
AwaitedRanks::~AwaitedRanks() { awaited_ranks = outer_; }
const std::vector<int>* AwaitedRanks::current() noexcept { return awaited_ranks; }

board::WaitInfo wait_for(const Request& request, std::string& name, base::Location site) {
  name = request.keys.empty() ? name_of(request.op) : request.keys[0];
  if (request.keys.size() > 1) name += " and " + std::to_string(request.keys.size() - 1) + " more";
  board::WaitInfo info;
  info.kind = board::WaitKind::StoreGet;
  info.name = name;
  info.site = site;
  if (const std::vector<int>* const ranks = AwaitedRanks::current()) {
    info.rule = board::PeerRule::All;
    for (const int rank : *ranks) info.peers.add(rank);
  }
  return info;
}

Error timeout_error(base::Nanoseconds timeout, const std::vector<std::string>& missing, base::Location site) {
  constexpr std::size_t kNamed = 20;
  std::string keys;
  for (std::size_t i = 0; i < missing.size() && i < kNamed; ++i) keys += (i == 0 ? "" : ", ") + missing[i];
  if (missing.size() > kNamed) keys += " and " + std::to_string(missing.size() - kNamed) + " more";
  return Error(ErrorKind::Timeout, "DistStoreError", "wait timeout after " + human_timeout(timeout) + ", keys: " + keys,
               site);
}

}  // namespace distrun::stores
