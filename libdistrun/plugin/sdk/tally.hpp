#pragma once
// The results of one rank: the number of checks, and the failures. A failure is sent at once, the number of checks at
// the end. Part of the rank's context, for the SDK.
#include <atomic>
#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

#include <distrun/plugin/sdk/plugin.h>
#include <distrun/common/base/location.hpp>

namespace distrun::detail {

struct Failure {
  std::string type;
  std::string text;
  base::Location where{};
  bool ends_body = true;
  int because_of = -1;                     // the rank that caused this failure
  std::vector<std::uint64_t> thrown_at{};  // from ThrowStack; empty: no exception, or one with a source line
};

// Thread-safe.
class Tally {
 public:
  static constexpr std::uint64_t kReportsMax = 100;  // of failures after which the body continues

  // `line` must outlive it.
  explicit Tally(const distrun_rank& line) noexcept : line_(line) {}

  void count_check() noexcept { count_checks(1); }
  void count_checks(std::uint64_t more) noexcept { checks_.fetch_add(more, std::memory_order_relaxed); }
  // Marks the rank as failed and sends the failure.
  void report(const Failure& failure);
  bool failed() const noexcept { return failed_.load(std::memory_order_acquire); }
  void mark_failed() noexcept { failed_.store(true, std::memory_order_release); }

  // Reports the checks since the last call, and the number of failures that were not sent.
  void finish();

 private:
  friend class Scope;
  void send(const Failure& failure);

  const distrun_rank& line_;
  std::atomic<std::uint64_t> checks_{0};
  std::atomic<bool> failed_{false};
  std::mutex mutex_;
  // Guarded by mutex_.
  std::string prefix_;
  bool body_goes_on_ = false;
  std::uint64_t survived_ = 0;  // failures after which the body continued
};

// While it lives, failures of the rank name where they happened: "in set-up: ...". In a scope after which the body
// continues, such as an element of run_subtests, no failure ends the body.
class Scope {
 public:
  enum class AfterFailure { Ends, GoesOn };
  Scope(Tally& tally, const std::string& prefix, AfterFailure after = AfterFailure::Ends);
  Scope(const Scope&) = delete;
  Scope& operator=(const Scope&) = delete;
  ~Scope();

 private:
  Tally& tally_;
  std::size_t length_before_;
  bool went_on_before_;
};

}  // namespace distrun::detail
