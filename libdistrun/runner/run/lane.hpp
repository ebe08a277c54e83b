#pragma once
// Runs one test after the other: attempts, repeats and retries of each, and the ranks that persist between them. A run
// has as many lanes as --jobs. Lives on: the coordinator's loop.
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <distrun/runner/attempt/attempt.hpp>
#include <distrun/runner/attempt/standing_world.hpp>
#include <distrun/runner/mpi/worlds.hpp>
#include <distrun/runner/run/preparation.hpp>

namespace distrun::runner {

class Lane {
 public:
  using OnProblem = std::function<void(const std::string& plugin, const std::string& text)>;

  // `run` and `plugins` must outlive the lane. `on_problem` reports ranks that died between two tests. `cpus`: that its
  // ranks run on.
  Lane(const RunContext& run, Preparation& plugins, OnProblem on_problem, LaneCpus cpus = {});

  // Runs all attempts of a test. `stay`: a similar test follows on this lane. Never throws because of a plugin.
  io::Task<void> run(PlannedTest& test, TestRecord& record, bool stay);
  // Runs one attempt, number `n`.
  io::Task<void> run_once(PlannedTest& test, TestRecord& record, int n, bool stay);
  // Ends persistent ranks.
  io::Task<void> rest();
  // Suspend ranks that wait for their next test, from pause() to resume().
  void pause() { standing_.pause(); }
  void resume() { standing_.resume(); }
  // Skips the rest of the test's attempts.
  void cancel(Urgency urgency);

  // Begins no further attempt of its test.
  void begin_no_more() noexcept { may_begin_ = false; }
  // Returns whether a test has got fewer attempts for that than --repeat says.
  bool was_cut() const noexcept { return was_cut_; }

  // Returns the running attempt; null: none.
  Attempt* attempt() const noexcept { return attempt_.get(); }

 private:
  io::Task<bool> run_attempt(PlannedTest& test, TestRecord& record, int n, AttemptKind kind, bool stay);
  // Returns the world of MPI of an attempt, ready for its ranks; null: the test needs none. Throws Error{Failed}.
  io::Task<std::unique_ptr<mpi::World>> join_mpi(const PlannedTest& test) const;
  bool is_settled(const TestRecord& test) const;
  bool may_retry(Verdict verdict) const;
  io::Task<void> end_standing(const PlannedTest* test);
  void note_test(const PlannedTest& test, bool standing);
  void tell_bad_end(const PlannedTest& test, const AttemptRecord& result) const;
  AttemptRecord failed_attempt(int n, AttemptKind kind, const std::string& failure) const;

  const RunContext& run_;
  Preparation& plugins_;
  OnProblem on_problem_;
  const LaneCpus cpus_;
  std::unique_ptr<PrivateTmp> private_tmp_;  // for all its ranks; null: not created yet, or not requested
  StandingWorld standing_;
  std::vector<std::string> ran_;  // ids of the tests that the current ranks have run, each once
  std::unique_ptr<Attempt> attempt_;
  bool cancelled_ = false;
  bool may_begin_ = true;
  bool was_cut_ = false;
};

}  // namespace distrun::runner
