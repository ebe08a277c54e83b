#pragma once
// An environment in which distrun runs as users run it, and which shows what distrun leaves behind: a private temporary
// directory and start directory, and a mark in the environment that every process inherits.
#include <string>
#include <string_view>
#include <vector>

#include "process.hpp"
#include "scratch.hpp"
#include "summary.hpp"

namespace distrun::testing {

// Returns the factor for bounds set by tests: DISTRUN_TIMEOUT_SCALE_FOR_TESTS, or the default of the build (4 with a
// sanitizer, otherwise 1).
double time_scale();
milliseconds scaled(milliseconds length);
// Returns the number of runnable threads per CPU, clamped to 1..8: CPU-bound work takes that many times as long. For
// upper bounds only.
double machine_load();
milliseconds at_latest(milliseconds length);  // scaled() times machine_load()
// Returns whether a fixture leaves this name on purpose without the run id; distrun must not touch it.
bool is_untouchable(std::string_view name);

class Sandbox {
 public:
  // `program` is distrun. Remains are determined by comparison with the state at construction.
  explicit Sandbox(std::string program);

  std::string temp() const { return temp_; }  // TMPDIR
  std::string start_directory() const { return start_; }
  std::string precious() const { return precious_; }  // contains a file that must not be removed
  std::string output() const { return output_; }      // for --output
  const std::string& mark() const noexcept { return mark_; }

  // Returns a distrun command with these arguments and the environment that the tests need. It keeps no history.
  Command command(std::vector<std::string> arguments) const;
  Running start(std::vector<std::string> arguments) const { return Running(command(arguments)); }
  Ended run(std::vector<std::string> arguments, milliseconds limit = milliseconds(30'000)) const;
  // Reads the summary of `--output output()`.
  Summary summary() const { return read_summary(output_ + "/summary.json"); }

  // Returns the live processes that were started here, directly or not.
  std::vector<ProcessInfo> processes() const;
  // Returns the run id found in the environment of one of them; empty if none has one.
  std::string run_id_in_use() const;
  // Returns the remains of the runs in this sandbox, one sentence each: processes, names in the temporary and start
  // directories and in /dev/shm. Names that fixtures leave on purpose and those of a neighbour do not count.
  std::vector<std::string> remains() const;
  // Kills those processes and removes those names, so that later tests do not see them.
  void sweep() const;

 private:
  std::vector<std::string> new_shared_memory() const;
  std::vector<std::string> lasting_shared_memory() const;
  bool is_of_another_sandbox(const std::string& name) const;

  std::string program_;
  Scratch scratch_;
  std::string temp_;
  std::string start_;
  std::string precious_;
  std::string output_;
  std::string mark_;
  std::vector<std::string> shared_memory_before_;
};

}  // namespace distrun::testing
