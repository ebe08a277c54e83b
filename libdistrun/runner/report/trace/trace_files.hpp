#pragma once
// A file for each attempt of each test with what its ranks did: DIR/Ring.pass.json, DIR/Ring.pass.attempt2.json. Each
// is there as a whole or not at all. Lives on: the coordinator's loop.
#include <map>
#include <string>

#include <distrun/runner/record/trace_sink.hpp>

namespace distrun::report {

// A test's id as the name of a file: what would not do there is "_", and long ones are cut.
std::string file_name_of(const std::string& test);

class TraceFiles final : public runner::TraceSink {
 public:
  // Makes the directory, and those that it lies in, when it is needed.
  explicit TraceFiles(std::string directory) : directory_(std::move(directory)) {}

  std::string write(const runner::TracedAttempt& traced) override;
  void miss(const std::string& why) override;

  // What went wrong first; empty: nothing.
  const std::string& failure() const noexcept { return failure_; }

 private:
  const std::string& stem_of(const runner::TracedAttempt& traced);

  const std::string directory_;
  std::map<std::string, std::string> stems_;  // of files, by plugin and test
  std::map<std::string, int> names_;          // how many tests have that name for their files
  std::string failure_;
};

}  // namespace distrun::report
