#pragma once
// A coordinator inside the benchmark: the real node, the real attempt, no reports unless asked for.
#include <memory>
#include <string>

#include <distrun/io/loop.hpp>
#include <distrun/launch/local_node.hpp>
#include <distrun/runner/attempt.hpp>

namespace distrun::bench {

// Of every test's body; only those that hang come to it.
inline constexpr base::Nanoseconds kBodyBound = std::chrono::milliseconds(100);

// Hears everything and does nothing; benchmarks override what they time.
class Silence : public runner::EventSink {
 public:
  void on_run_start(const runner::RunRecord&, int) override {}
  void on_problem(const runner::Problem&) override {}
  void on_test_start(const runner::TestStart&) override {}
  void on_attempt_start(const runner::AttemptStart&) override {}
  void on_rank_start(const std::string&, int, int, int) override {}
  void on_rank_phase(const std::string&, int, int, wire::Phase) override {}
  void on_rank_error(const std::string&, int, int, const runner::RankError&) override {}
  void on_look(const std::string&, int, const runner::Look&) override {}
  void on_rank_end(const std::string&, int, const runner::RankRecord&) override {}
  void on_attempt_end(const std::string&, const runner::AttemptRecord&) override {}
  void on_test_end(const runner::TestRecord&) override {}
  void on_run_end(const runner::RunRecord&) override {}
};

class Harness {
 public:
  explicit Harness(runner::EventSink& sink);
  ~Harness();

  // One attempt of a test of bench_plugin, from nothing to its verdict. Throws Error if it cannot be prepared.
  runner::AttemptRecord attempt(const std::string& test, int world_size, const std::string& isolation);

 private:
  io::Task<void> run(runner::PlannedTest test, runner::AttemptRecord& result);
  runner::PlannedTest planned(const std::string& test, int world_size, const std::string& isolation);

  proc::RunPlaces places_;
  io::Loop loop_;
  launch::LocalNode node_;
  runner::Settings settings_;
  proc::LeakScan scan_;
  runner::WorkDirPool dirs_;
  runner::RunContext context_;
};

// Paths of the build.
std::string distrun_program();
std::string bench_plugin();

}  // namespace distrun::bench
