#pragma once
// Finds what an attempt leaves behind besides processes: names and System V objects that are provably its own, and the
// contents of its directories. Lives on: the coordinator's loop.
#include <string>
#include <vector>

#include <distrun/runner/attempt/name_watch.hpp>
#include <distrun/runner/attempt/private_tmp.hpp>
#include <distrun/runner/attempt/work_dirs.hpp>
#include <distrun/runner/record/record.hpp>

namespace distrun::runner {

// Returns the leak for a name left behind. Removes it if `ours`: it carries the run's id, lies in the attempt's
// directories or was created by a rank, as the kernel knows. Other names may be in use; they are only reported.
Leak leak_of(const proc::NewName& name, bool ours);

// Returns the leaks for those of the names that still exist: what the set-up of a suite's host has made for its tests,
// and given away (NameWatch::give()). Removes them as leak_of() says.
std::vector<Leak> leaks_among(const std::vector<proc::NewName>& made, NameWatch& names);

class TestResources {
 public:
  // Begins an attempt of `test`. All arguments must outlive this; `dirs` and `private_tmp` may be null.
  TestResources(NameWatch& names, const WorkDirs* dirs, const PrivateTmp* private_tmp, const std::string& test);
  ~TestResources();
  TestResources(const TestResources&) = delete;
  TestResources& operator=(const TestResources&) = delete;

  // Adds a process of the attempt, and names that its processes were seen to hold.
  void add_process(pid_t pid) { traces_.pids.insert(pid); }
  void add_held(std::vector<base::HeldName> names);
  // The directories in which the attempt may hold names.
  std::vector<std::string> directories() const { return names_.directories(); }

  // Returns the names that are there now, also while ranks run.
  std::vector<proc::NewName> names() { return names_.names_of(since_, traces_); }
  // Returns whether something is left. Call when the ranks have ended: what the CUDA driver keeps of them in /dev/shm,
  // which no test can remove, is removed here.
  bool any() { return !left_names().empty() || !left_in_tmp().empty() || !left_in_private().empty(); }
  // Returns the same as leaks, removed as leak_of() says. Each name is returned once.
  std::vector<Leak> tell();

 private:
  std::vector<proc::NewName> left_names();
  std::vector<proc::NewName> left_in_tmp() const;
  std::vector<PrivateTmp::Left> left_in_private() const;

  NameWatch& names_;
  const WorkDirs* dirs_;
  const PrivateTmp* private_tmp_;
  std::string test_;
  NameWatch::Mark since_;
  Traces traces_;
};

}  // namespace distrun::runner
