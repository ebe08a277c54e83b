#pragma once
// A rank's line that records what is shown on it.
#include <algorithm>
#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <distrun/runtime/core/rank_state.hpp>
#include <distrun/runtime/core/thread_state.hpp>

namespace distrun::testing {

class FakeRankLine final : public core::RankLine {
 public:
  struct Begun {
    board::WaitInfo info;  // its texts belong to the waiter
    base::TimePoint deadline;
  };

  int begin_wait(const board::WaitInfo& info, base::TimePoint deadline) noexcept override {
    const std::lock_guard lock(mutex_);
    names.emplace_back(info.name);
    begun.push_back({info, deadline});
    return 5;
  }
  void end_wait(int number) noexcept override {
    const std::lock_guard lock(mutex_);
    ended.push_back(number);
  }
  void note(board::WaitKind, std::string_view, int, std::uint64_t) noexcept override {}
  void progress() noexcept override {}
  std::optional<board::Shown> look_at(int rank) const override {
    const auto found = pids.find(rank);
    if (found == pids.end()) return std::nullopt;
    board::Shown shown;
    shown.pid = found->second;
    return shown;
  }

  std::size_t count() {
    const std::lock_guard lock(mutex_);
    return begun.size();
  }
  bool has_begun(std::string_view name) { return deadline_of(name).has_value(); }
  // Returns the deadline of the first wait with the name.
  std::optional<base::TimePoint> deadline_of(std::string_view name) {
    const std::lock_guard lock(mutex_);
    const auto found = std::find(names.begin(), names.end(), name);
    if (found == names.end()) return std::nullopt;
    return begun[static_cast<std::size_t>(found - names.begin())].deadline;
  }

  std::vector<std::string> names;
  std::vector<Begun> begun;
  std::vector<int> ended;
  std::map<int, int> pids;  // of ranks that show a state

 private:
  std::mutex mutex_;
};

// Makes the calling thread work, for a scope, for a separate rank with such a line. The rank's state outlives it, since
// threads of the runtime may use it.
class FakeRank {
 public:
  FakeRank() : state(kept_state()), guard_(core::thread_state()) {
    state.use(&line);
    core::thread_state().rank = &state;
  }
  ~FakeRank() { state.use(nullptr); }
  FakeRank(const FakeRank&) = delete;
  FakeRank& operator=(const FakeRank&) = delete;

  FakeRankLine line;
  core::RankState& state;

 private:
  static core::RankState& kept_state() {
    static std::mutex mutex;  // ranks that are threads start concurrently
    const std::lock_guard lock(mutex);
    static auto* const all = new std::deque<core::RankState>;
    return all->emplace_back();
  }

  core::ThreadStateGuard guard_;
};

}  // namespace distrun::testing
