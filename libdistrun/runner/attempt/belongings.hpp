#pragma once
// What an attempt leaves behind beside processes: names and what of System V is provably its, and what is left in its
// own directories. Lives on: the coordinator's loop.
#include <string>
#include <vector>

#include <distrun/runner/attempt/name_watch.hpp>
#include <distrun/runner/attempt/private_tmp.hpp>
#include <distrun/runner/attempt/work_dirs.hpp>
#include <distrun/runner/record/record.hpp>

namespace distrun::runner {

// A name that was left, removed if that is the run's to do: where it carries the run's id, lies in a directory of its
// own, or was made by a rank, as the kernel knows. What others may be using is told and not touched.
Leak leak_of(const proc::NewName& name, bool ours);

class Belongings {
 public:
  // An attempt of that test begins. All must outlive it; `dirs` and `private_tmp` may be null.
  Belongings(NameWatch& names, const WorkDirs* dirs, const PrivateTmp* private_tmp, const std::string& test);
  ~Belongings();
  Belongings(const Belongings&) = delete;
  Belongings& operator=(const Belongings&) = delete;

  // One of its processes, and what it had to do with when somebody looked.
  void add_process(pid_t pid) { traces_.pids.insert(pid); }
  void add_held(std::vector<base::HeldName> names);
  // Directories in which it may hold names.
  std::vector<std::string> directories() const { return names_.directories(); }

  // What is there now.
  bool any() { return !names().empty() || !left_in_tmp().empty() || !left_in_private().empty(); }
  std::vector<proc::NewName> names() { return names_.names_of(since_, traces_); }
  // The same, each told once from now on, and removed as leak_of() says.
  std::vector<Leak> tell();

 private:
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
