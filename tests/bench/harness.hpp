#pragma once
// A coordinator within the benchmark: the real node, the real attempt, and no reports by default.
#include <memory>
#include <string>

#include <distrun/common/io/loop.hpp>
#include <distrun/runner/attempt/attempt.hpp>
#include <distrun/runner/attempt/test_resources.hpp>
#include <distrun/runner/launch/local_node.hpp>
#include <distrun/runner/record/silent_sink.hpp>

namespace distrun::bench {

// The timeout of every test's body; only bodies that hang reach it.
inline constexpr base::Nanoseconds kBodyBound = std::chrono::milliseconds(100);

using Silence = runner::SilentSink;  // benchmarks override the events that they time

class Harness {
 public:
  explicit Harness(runner::EventSink& sink);
  ~Harness();

  // Runs one attempt of a test of bench_plugin, from preparation to verdict. Throws Error if it cannot be prepared.
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
