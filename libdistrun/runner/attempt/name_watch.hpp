#pragma once
// Names that appear while tests run, where everybody may make some. Of them only those are a test's that are provably
// its: a process of its attempt had it open when somebody looked, made it as the kernel tells (System V), or gave it
// the run's id while no other test ran. The others may be somebody else's: they blame no test, and are told in the end.
// Lives on: the coordinator's loop.
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <distrun/runner/proc/leak_scan.hpp>

namespace distrun::runner {

// By what a name is known to be an attempt's.
struct Traces {
  std::vector<base::HeldName> held;  // what its processes had to do with
  std::set<pid_t> pids;              // those processes
};

class NameWatch {
 public:
  using Mark = proc::LeakScan::Mark;

  // Without `files`, ordinary files are nobody's concern.
  explicit NameWatch(const proc::RunPlaces& places, bool files = true);

  // The run begins: what is there now is nobody's.
  void forget() { first_ = scan_.mark(); }
  // An attempt of that test begins, or is over. Only what appears after the mark can be the attempt's.
  Mark begin(const std::string& test);
  void end(const std::string& test);
  // What has appeared since, is still there and provably the attempt's. What was given to somebody is not told again.
  std::vector<proc::NewName> names_of(Mark since, const Traces& traces);
  void give(const proc::NewName& name) { given_.emplace(name.path, name.inode); }
  // It is gone: what appears there from now on is another, though the kernel may give it the same inode.
  void removed(const proc::NewName& name);
  bool carries_run_id(const proc::NewName& name) const;

  // Where they are looked for.
  std::vector<std::string> directories() const;
  // For ranks, which tell what they hold there.
  std::vector<proc::LeakScan::Watched> watched() const { return scan_.watched(); }

  struct Suspicion {
    std::string path;
    std::set<std::string> tests;  // that ran when it was first seen
  };
  // Names with the run's id that are still there and may be of several tests. Once, in the end.
  std::vector<Suspicion> suspicions();
  // Names that are still there, that nobody works with, and that may be anybody's. Once, in the end.
  std::vector<std::string> strangers();

 private:
  bool is_given(const proc::NewName& name) const { return given_.contains({name.path, name.inode}); }
  void suspect();

  proc::LeakScan scan_;
  std::string run_id_;
  Mark first_;
  std::multiset<std::string> running_;
  std::set<std::string> since_quiet_;  // tests that have run since nothing did
  std::map<std::string, std::set<std::string>> suspects_;
  std::set<std::pair<std::string, std::uint64_t>> given_;  // and its inode
};

}  // namespace distrun::runner
