#pragma once
// Watches names that appear while tests run, in places where any process may create some. A name is attributed to a
// test only if that is provable: a process of its attempt had it open when it was checked, created or used it last
// according to the kernel (System V), gave it the run's id while no other test ran, or has its number in it (CUDA's).
// Other names may have other owners: they blame no test and are reported at the end of the run. Lives on: the
// coordinator's loop.
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <distrun/runner/proc/leak_scan.hpp>

namespace distrun::runner {

// The evidence that a name belongs to an attempt.
struct Traces {
  std::vector<base::HeldName> held;  // names that its processes had open
  std::set<pid_t> pids;              // its processes
};

class NameWatch {
 public:
  using Mark = proc::LeakScan::Mark;

  // Without `files`, ordinary files are ignored.
  explicit NameWatch(const proc::RunPlaces& places, bool files = true);

  // Call when the run begins: existing names are ignored.
  void forget() { first_ = scan_.mark(); }
  // Called when an attempt of `test` begins or ends. Only names that appear after the mark can be the attempt's.
  Mark begin(const std::string& test);
  void end(const std::string& test);
  // Returns the names that appeared after `since`, still exist, are provably the attempt's and were not given away.
  std::vector<proc::NewName> names_of(Mark since, const Traces& traces);
  void give(const proc::NewName& name) { given_.emplace(name.path, name.inode); }
  // The name was removed: a later one at this path is new, even if the kernel gives it the same inode.
  void removed(const proc::NewName& name);
  bool carries_run_id(const proc::NewName& name) const;

  // The directories that are watched.
  std::vector<std::string> directories() const;
  // The same for ranks, which report the names that they hold there.
  std::vector<proc::LeakScan::Watched> watched() const { return scan_.watched(); }

  struct Suspicion {
    std::string path;
    std::set<std::string> tests;  // the tests that ran when it was first seen
  };
  // Returns names with the run's id that still exist and may belong to several tests. Call once, at the end.
  std::vector<Suspicion> suspicions();
  // Returns names that still exist, are not in use, and may belong to any process. Call once, at the end.
  std::vector<std::string> strangers();

 private:
  bool is_given(const proc::NewName& name) const { return given_.contains({name.path, name.inode}); }
  void suspect();

  proc::LeakScan scan_;
  std::string run_id_;
  Mark first_;
  std::multiset<std::string> running_;
  std::set<std::string> since_quiet_;  // tests that have run since the last moment without any
  std::map<std::string, std::set<std::string>> suspects_;
  std::set<std::pair<std::string, std::uint64_t>> given_;  // path and inode
};

}  // namespace distrun::runner
