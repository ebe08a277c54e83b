#pragma once
// Names that appear while tests run. With one test at a time a new name is that test's. Where several run at once
// nobody can say whose it is: such names blame none of them, and are told in the end, with the tests that they may be
// of. Lives on: the coordinator's loop.
#include <map>
#include <set>
#include <string>
#include <vector>

#include <distrun/proc/leak_scan.hpp>

namespace distrun::runner {

class NameWatch {
 public:
  // Without `files`, ordinary files are nobody's concern.
  explicit NameWatch(const proc::RunPlaces& places, bool files = true) : scan_(places, files) {}

  // An attempt of that test begins, or is over.
  void begin(const std::string& test);
  void end(const std::string& test);
  // The new names for which the only running attempt is to blame; with others running, none.
  std::vector<proc::NewName> look();
  // From now on, what is there counts as old.
  void forget();
  // New names, also those with which a process works, become old: they are there for the tests that come. None while
  // others run.
  std::vector<proc::NewName> adopt();

  struct Suspicion {
    std::string path;
    std::set<std::string> tests;   // that ran when it was first seen
  };
  // Names that are still there and may be of several tests. Once, in the end.
  std::vector<Suspicion> suspicions() const;

 private:
  void suspect();

  proc::LeakScan scan_;
  std::multiset<std::string> running_;
  std::set<std::string> since_quiet_;  // tests that have run since nothing did
  std::map<std::string, std::set<std::string>> suspects_;
};

}  // namespace distrun::runner
