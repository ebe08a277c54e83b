#pragma once
// Writes a trace file for each attempt of each test: DIR/Ring.pass.json, DIR/Ring.pass.attempt2.json. Each file exists
// completely or not at all. Lives on: the coordinator's loop.
#include <map>
#include <string>

#include <distrun/runner/record/trace_sink.hpp>

namespace distrun::report {

// Turns a test's id into a file name: replaces unsuitable characters by "_", and cuts long ids.
std::string file_name_of(const std::string& test);

class TraceFiles final : public runner::TraceSink {
 public:
  // Creates the directory and its parents when needed.
  explicit TraceFiles(std::string directory) : directory_(std::move(directory)) {}

  std::string write(const runner::TracedAttempt& traced) override;
  void miss(const std::string& why) override;

  // Returns the first error; empty: none.
  const std::string& failure() const noexcept { return failure_; }

 private:
  const std::string& stem_of(const runner::TracedAttempt& traced);

  const std::string directory_;
  std::map<std::string, std::string> stems_;  // of files, by plugin and test
  std::map<std::string, int> names_;          // number of tests that share the file name
  std::string failure_;
};

}  // namespace distrun::report
