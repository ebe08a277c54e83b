#pragma once
// Errors of futures that were never read: they are reported when the rank's test ends, since they often explain why
// something is missing. Some are failures: without them the test would pass with wrong results.
#include <atomic>
#include <cstdint>
#include <exception>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <distrun/common/base/if_memory.hpp>

namespace distrun::core {
class RankLine;  // runtime/core/rank_state.hpp
class RankState;
}  // namespace distrun::core

namespace distrun::future {

// Returns "ValueError: a shape is wrong".
std::string describe_error(const std::exception_ptr& error);

// The unseen errors of one rank: see unseen_errors_of(). Each is shown on the rank's board while it is stored, for a
// test that hangs never ends. Thread-safe.
class UnseenErrors {
 public:
  static constexpr std::size_t kKept = 100;  // others are only counted

  explicit UnseenErrors(core::RankState& rank) noexcept : rank_(rank) {}

  // Only counts the error if out of memory.
  std::uint64_t add(std::string text) noexcept;
  // Adds the text that `make` returns.
  template <class Make>
  std::uint64_t add_made(Make make) noexcept {
    return base::if_memory([&] { return add(make()); }, [this] { return count(); });
  }
  // Adds an error that fails the test unless it is read. All are kept; if out of memory, as one error that stands for
  // them.
  std::uint64_t add_failure(std::exception_ptr failure) noexcept;
  void remove(std::uint64_t number) noexcept;
  // Return and remove all errors, the oldest first. The last entry says how many were not kept.
  std::vector<std::string> take();
  std::vector<std::exception_ptr> take_failures();

 private:
  static constexpr std::uint64_t kFailure = std::uint64_t{1} << 63;  // bit in the numbers of failures

  // Shows an error on the board, from construction to destruction.
  class Showing {
   public:
    Showing(core::RankState& rank, std::string_view text) noexcept;
    ~Showing();
    Showing(const Showing&) = delete;
    Showing& operator=(const Showing&) = delete;

   private:
    core::RankLine* line_;
    int number_ = -1;
  };
  struct Text {
    Text(core::RankState& rank, std::string text_) : showing(rank, text_), text(std::move(text_)) {}
    Showing showing;
    std::string text;
  };
  struct Failure {
    Failure(core::RankState& rank, std::exception_ptr error_)
        : showing(rank, describe_error(error_)), error(std::move(error_)) {}
    Showing showing;
    std::exception_ptr error;
  };

  std::uint64_t count() noexcept;

  core::RankState& rank_;
  std::mutex mutex_;
  // Guarded by mutex_.
  std::map<std::uint64_t, Text> texts_;  // by number
  std::map<std::uint64_t, Failure> failures_;
  std::uint64_t last_failure_ = 0;
  std::uint64_t last_ = 0;
  std::uint64_t taken_until_ = 0;
  std::uint64_t not_kept_ = 0;
  std::uint64_t failures_taken_until_ = kFailure;
  std::uint64_t failures_not_kept_ = 0;
};
UnseenErrors& unseen_errors_of(core::RankState& rank);

// The unseen error of one future, from its failure until it is read. Reading it before it fails counts, too.
class UnseenError {
 public:
  // Call at most one of them, once. `tell` creates the text, unless the error was seen.
  template <class Tell>
  void begin(core::RankState& rank, Tell tell) {
    keep(rank, [&](UnseenErrors& all) { return all.add_made(tell); });
  }
  void begin_failure(core::RankState& rank, const std::exception_ptr& failure) {
    keep(rank, [&](UnseenErrors& all) { return all.add_failure(failure); });
  }
  void see() noexcept {
    is_seen_ = true;
    if (const std::uint64_t number = number_.exchange(0)) all_->remove(number);
  }

 private:
  template <class Add>
  void keep(core::RankState& rank, Add add) {
    if (is_seen_) return;
    UnseenErrors& all = unseen_errors_of(rank);
    all_ = &all;
    number_ = add(all);
    if (is_seen_) see();
  }

  std::atomic<bool> is_seen_{false};
  std::atomic<std::uint64_t> number_{0};  // 0: none stored
  UnseenErrors* all_ = nullptr;           // set before the number
};

}  // namespace distrun::future
