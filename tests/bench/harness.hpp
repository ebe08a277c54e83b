#pragma once
// A coordinator inside the benchmark: the real node, the real attempt, no reports unless asked for.
#include <memory>
#include <string>

#include <distrun/common/io/loop.hpp>
#include <distrun/runner/attempt/attempt.hpp>
#include <distrun/runner/launch/local_node.hpp>
#include <distrun/runner/record/silent_sink.hpp>

namespace distrun::bench {

// Of every test's body; only those that hang come to it.
inline constexpr base::Nanoseconds kBodyBound = std::chrono::milliseconds(100);

using Silence = runner::SilentSink;  // benchmarks override what they time

class Harness {
 public:
  explicit Harness(runner::EventSink& sink);
  ~Harness();

  // One attempt of a test of bench_plugin, from nothing to its verdict. Throws Error if it cannot be prepared.
  runner::AttemptRecord attempt(const std::string& test, int world_size, Isolation isolation);

 private:
  io::Task<void> run(runner::PlannedTest test, runner::AttemptRecord& result);
  runner::PlannedTest planned(const std::string& test, int world_size, Isolation isolation);

  proc::RunPlaces places_;
  io::Loop loop_;
  launch::LocalNode node_;
  runner::Settings settings_;
  runner::NameWatch names_;
  runner::WorkDirPool dirs_;
  runner::RunContext context_;
};

// Paths of the build.
std::string distrun_program();
std::string bench_plugin();

}  // namespace distrun::bench
