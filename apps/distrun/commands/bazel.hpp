#pragma once
// The files of Bazel's protocol for test programs (its Test Encyclopedia), which other builders use, too. The variables
// that are options are in options/option_layers.cpp.
#include <string>

namespace distrun::cli {

// Creates $TEST_SHARD_STATUS_FILE, if set: the run heeds the variables for shards. Not for programs, which have none.
void tell_that_shards_are_known();

// While it lives, $TEST_PREMATURE_EXIT_FILE exists, if set: a file that remains shows that distrun was killed.
class PrematureExitFile {
 public:
  PrematureExitFile();
  ~PrematureExitFile();
  PrematureExitFile(const PrematureExitFile&) = delete;
  PrematureExitFile& operator=(const PrematureExitFile&) = delete;

 private:
  std::string path_;
};

}  // namespace distrun::cli
