// The incoming half of Meetings: what peers send, and news of them.
#include <utility>

#include <distrun/common/base/error.hpp>
#include <distrun/common/base/if_memory.hpp>
#include <distrun/runtime/rpc/calls/error_codec.hpp>
#include <distrun/runtime/rpc/session/detail/meeting_keys.hpp>
#include <distrun/runtime/rpc/session/detail/meetings.hpp>

namespace distrun::rpc {
namespace {

constexpr std::size_t kRoundsMax = 10'000;  // of all groups together

}  // namespace

// Without memory the text is short.
Meetings::Failure Meetings::Failure::of(const Error& why) noexcept {
  return {base::if_memory([&] { return std::string(why.what()); }, [] { return std::string("out of memory"); }),
          why.because_of()};
}

// Returns null for a round that the rank has left.
Meetings::Round* Meetings::find_or_add_round(Group& group, std::uint64_t number) {
  const auto found = group.rounds.find(number);
  if (found != group.rounds.end()) return found->second.get();
  if (number < group.entered) return nullptr;
  if (rounds_ >= kRoundsMax) {
    throw Error(ErrorKind::Overloaded, "more than " + std::to_string(kRoundsMax) + " _all_gather at once");
  }
  Round* const added = group.rounds.emplace(number, std::make_shared<Round>()).first->second.get();
  ++rounds_;
  return added;
}

void Meetings::contribute(const std::string& key, std::uint64_t number, const std::string& name, const Value& object) {
  const std::lock_guard lock(mutex_);
  Group& group = groups_[key];
  Round* const round = find_or_add_round(group, number);
  if (round == nullptr) {
    throw Error(ErrorKind::Failed, "the leader has given up _all_gather of " + key +
                                       (group.failure.empty() ? "" : ": " + group.failure.text))
        .with_cause(group.failure.because_of);
  }
  round->gathered.emplace(name, object);
  changed_.notify_all();
}

void Meetings::fail(const std::string& key, std::uint64_t number, const std::string& name, const Failure& why) {
  const std::lock_guard lock(mutex_);
  Round* const round = find_or_add_round(groups_[key], number);
  if (round == nullptr || !round->failure.empty()) return;
  round->failure = {name + " has left it: " + why.text, why.because_of};
  changed_.notify_all();
}

std::shared_ptr<Meetings::Round> Meetings::find_round(const std::string& key, std::uint64_t number) {
  const std::lock_guard lock(mutex_);
  const auto group = groups_.find(key);
  if (group == groups_.end()) return nullptr;
  const auto found = group->second.rounds.find(number);
  return found != group->second.rounds.end() ? found->second : nullptr;
}

// The first outcome counts. If the map can't be taken, that is the outcome.
void Meetings::finish(const std::string& key, std::uint64_t number, const Failure& failure, const Packed& packed,
                      const std::function<void()>& before) {
  const std::shared_ptr<Round> round = find_round(key, number);
  if (round == nullptr) {
    if (!failure.empty()) return;  // it has left already
    throw Error(ErrorKind::Failed, "it has given up _all_gather number " + std::to_string(number) + " of " + key);
  }
  const auto go_on = [&](Gathered gathered, Failure outcome) noexcept {
    const std::lock_guard lock(mutex_);
    if (round->is_over) return;
    round->gathered = std::move(gathered);
    round->failure = std::move(outcome);
    round->is_over = true;
    changed_.notify_all();
  };
  Gathered gathered;
  Failure outcome;
  try {
    outcome = failure;
    if (failure.empty()) gathered = from_value<Gathered>(unpack(packed));
  } catch (...) {
    go_on({}, Failure::of(error_of(std::current_exception())));
    throw;
  }
  try {
    before();
  } catch (...) {
    go_on(std::move(gathered), std::move(outcome));
    throw;
  }
  go_on(std::move(gathered), std::move(outcome));
}

void Meetings::hear(const std::string& key, std::uint64_t number, const std::string& name) {
  const std::shared_ptr<Round> round = find_round(key, number);
  if (round == nullptr) return;
  const std::lock_guard lock(mutex_);
  round->heard.insert(name);
  changed_.notify_all();
}

void Meetings::lose(const WorkerInfo& worker, const Error& why) {
  const std::lock_guard lock(mutex_);
  const auto [lost, is_new] = lost_.try_emplace(worker.name(), Lost{worker.incarnation(), why});
  if (!is_new && lost->second.incarnation <= worker.incarnation()) lost->second = {worker.incarnation(), why};
  changed_.notify_all();
}

void Meetings::find_again(const WorkerInfo& worker) {
  const std::lock_guard lock(mutex_);
  const auto lost = lost_.find(worker.name());
  if (lost != lost_.end() && lost->second.incarnation <= worker.incarnation()) lost_.erase(lost);
  std::erase_if(groups_,
                [&](const auto& each) { return each.second.rounds.empty() && names_earlier(each.first, worker); });
}

void Meetings::close(const char* why) noexcept {
  const std::lock_guard lock(mutex_);
  if (closed_ == nullptr) closed_ = why;
  changed_.notify_all();
}

}  // namespace distrun::rpc
