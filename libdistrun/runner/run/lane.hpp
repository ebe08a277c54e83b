#pragma once
// One test after the other: attempts, repeats and retries of each, and the ranks that stay between them. A run has as
// many lanes as --jobs says. Lives on: the coordinator's loop.
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <distrun/runner/attempt/attempt.hpp>
#include <distrun/runner/attempt/standing_world.hpp>
#include <distrun/runner/run/preparation.hpp>

namespace distrun::runner {

class Lane {
 public:
  using OnProblem = std::function<void(const std::string& plugin, const std::string& text)>;

  // All must outlive it. `on_problem` is told of ranks that died between two tests.
  Lane(const RunContext& run, Preparation& plugins, OnProblem on_problem);

  // All attempts of a test. `stay`: a test like it follows on this lane. Never throws for what a plugin does.
  io::Task<void> run(PlannedTest& test, TestRecord& record, bool stay);
  // Ends ranks that have stayed.
  io::Task<void> rest();
  // Ranks that wait for their next test stand still from pause() to resume().
  void pause() { standing_.pause(); }
  void resume() { standing_.resume(); }
  // The rest of the test's attempts is not run.
  void cancel(Urgency urgency);

  // The one that goes on; null: none.
  Attempt* attempt() const noexcept { return attempt_.get(); }

 private:
  io::Task<bool> run_attempt(PlannedTest& test, TestRecord& record, AttemptKind kind, bool stay);
  bool is_settled(const TestRecord& test) const;
  io::Task<void> end_standing(const PlannedTest* test);
  void note_test(const PlannedTest& test, bool standing);
  void tell_bad_end(const PlannedTest& test, const AttemptRecord& result) const;
  AttemptRecord failed_attempt(int n, AttemptKind kind, const std::string& failure) const;

  const RunContext& run_;
  Preparation& plugins_;
  OnProblem on_problem_;
  std::unique_ptr<PrivateTmp> private_tmp_;  // of all its ranks; null: none yet, or not wanted
  StandingWorld standing_;
  std::vector<std::string> ran_;  // ids of the tests of the ranks that are in use, each once
  std::unique_ptr<Attempt> attempt_;
  bool cancelled_ = false;
};

}  // namespace distrun::runner
