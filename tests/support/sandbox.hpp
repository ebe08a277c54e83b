#pragma once
// A place in which distrun runs as its users run it, and which shows what it leaves behind: a temporary
// directory and a start directory of its own, and a mark in the environment that every process inherits.
#include <string>
#include <string_view>
#include <vector>

#include "process.hpp"
#include "scratch.hpp"
#include "summary.hpp"

namespace distrun::testing {

// Bounds that tests set are multiplied by this: DISTRUN_TIMEOUT_SCALE_FOR_TESTS, 1 by default.
double time_scale();
milliseconds scaled(milliseconds length);
// How many runnable threads there are for each CPU, from 1 to 8: what takes CPU time takes that many times as long. For
// upper bounds alone.
double machine_load();
milliseconds at_latest(milliseconds length);  // scaled() times machine_load()
// What fixtures leave on purpose without the run id, and distrun must not touch.
bool is_untouchable(std::string_view name);

class Sandbox {
 public:
  // `program` is distrun. What it leaves afterwards is compared with what is there now.
  explicit Sandbox(std::string program);

  std::string temp() const { return temp_; }  // TMPDIR
  std::string start_directory() const { return start_; }
  std::string precious() const { return precious_; }  // holds a file that must stay
  std::string output() const { return output_; }      // for --output
  const std::string& mark() const noexcept { return mark_; }

  // distrun with these arguments; what the tests need in its environment is there. It keeps no history.
  Command command(std::vector<std::string> arguments) const;
  Running start(std::vector<std::string> arguments) const { return Running(command(arguments)); }
  Ended run(std::vector<std::string> arguments, milliseconds limit = milliseconds(30'000)) const;
  // The summary of `--output output()`.
  Summary summary() const { return read_summary(output_ + "/summary.json"); }

  // The processes that were started here, directly or not, and are alive.
  std::vector<ProcessInfo> processes() const;
  // The run id that one of them has in its environment; empty if none has.
  std::string run_id_in_use() const;
  // What is still there of the runs in this sandbox, one sentence each: processes, names in the
  // temporary and start directories and in /dev/shm. Names that fixtures leave on purpose don't count, nor do a
  // neighbour's.
  std::vector<std::string> remains() const;
  // Ends those processes and removes all those names, so that one test's remains are not another's.
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
