#pragma once
// Settings of some tests (--overrides). The entries of Settings::overrides apply in order to the tests that their
// filters select; later ones win, tags and locks add up. Immutable after construction.
#include <string>
#include <vector>

#include <distrun/runner/plan/filter.hpp>
#include <distrun/runner/record/record.hpp>

namespace distrun::runner {

class Overrides {
 public:
  // Throws as Filter does.
  explicit Overrides(const std::vector<Override>& overrides);

  // Returns what changes for the test: all tags and locks of the overrides that select it, and the last of each other
  // setting.
  Override changes_of(const std::string& plugin, const wire::TestInfo& test) const;

 private:
  struct Entry {
    Filter filter;
    Override changes;
  };
  std::vector<Entry> entries_;
};

}  // namespace distrun::runner
