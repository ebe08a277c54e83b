#pragma once
// Tracks the running tests, for the status line.
#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include <distrun/common/base/clock.hpp>
#include <distrun/runner/record/events.hpp>
#include <distrun/runner/report/text/estimate.hpp>

namespace distrun::report {

// Derives the running tests and the activity of their ranks from events.
class Progress {
 public:
  void run_started(int tests);
  // The usual durations of the tests, if they are known.
  Estimate& estimate() noexcept { return estimate_; }
  void test_started(const std::string& id, base::TimePoint now);
  void attempt_started(const std::string& id, int world_size);
  // `host` is empty for this machine.
  void rank_on_host(const std::string& id, int rank, const std::string& host);
  void rank_in_phase(const std::string& id, int rank, wire::Phase phase);
  void rank_ended(const std::string& id, int rank, runner::OutcomeKind outcome);
  // Sets the long waits of the ranks by test, shown in place of their phases.
  void waiting(std::map<std::string, std::string> waits) { waits_ = std::move(waits); }
  void test_ended(const runner::TestRecord& test);

  // The time between pause() and resume() counts for no test. Both may be repeated.
  void pause(base::TimePoint now) { paused_at_ = std::min(paused_at_, now); }
  void resume(base::TimePoint now);

  bool idle() const noexcept { return running_.empty(); }
  // Returns "3 of 12, 1 bad, about 40 s left | Ring.gather, 3.4 s | 0-2 body, 3 set-up", at most `width` columns.
  std::string status(base::TimePoint now, std::size_t width) const;
  // Returns "Ring.gather, 61.0 s | 0-2 body, 3 set-up" for each test that has run for `after`, and again after twice
  // the time, then every five minutes at least.
  std::vector<std::string> slow_tests(base::TimePoint now, base::Nanoseconds after);
  // Returns whether slow_tests() would return any.
  bool has_slow(base::TimePoint now, base::Nanoseconds after) const;

 private:
  struct Running {
    base::TimePoint since;
    std::uint64_t order = 0;
    std::vector<const char*> doing;  // by rank: the static name of a phase or an outcome
    std::vector<std::string> hosts;  // by rank; empty: this machine
    base::Nanoseconds told_at{};     // the age at which it was last told as slow
  };
  using Entry = std::map<std::string, Running>::value_type;

  void set(const std::string& id, int rank, const char* doing);
  const Entry* find_oldest() const;
  // Excludes the current pause.
  base::Nanoseconds age_of(const Running& test, base::TimePoint now) const {
    return std::max(base::Nanoseconds{}, std::min(now, paused_at_) - test.since);
  }
  std::string doing_of(const Entry& test) const;
  // The age at which the next line about the test is due.
  static base::Nanoseconds next_told(const Running& test, base::Nanoseconds after);

  std::string left_text_of(base::TimePoint now) const;

  Estimate estimate_;
  int tests_ = 0;
  int ended_ = 0;
  int bad_ = 0;
  std::uint64_t started_ = 0;
  std::map<std::string, Running> running_;
  std::map<std::string, std::string> waits_;            // by test
  base::TimePoint paused_at_ = base::TimePoint::max();  // max(): not paused
};

// Returns "0-2 body, 3 set-up"; groups too long to list are counted: "128 ranks body". Names the host if the ranks of a
// group run on one other machine: "0-2 body, 3 on node02 set-up".
std::string activity_text(const std::vector<const char*>& doing, const std::vector<std::string>& hosts = {});

}  // namespace distrun::report
