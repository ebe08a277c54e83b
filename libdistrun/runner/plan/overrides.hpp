#pragma once
// Settings of some tests (--overrides): those of Settings::overrides whose filter selects a test apply to it, in order,
// and later ones win; tags and locks add up. Immutable after construction.
#include <string>
#include <vector>

#include <distrun/runner/plan/filter.hpp>
#include <distrun/runner/record/record.hpp>

namespace distrun::runner {

class Overrides {
 public:
  // Throws as Filter does.
  explicit Overrides(const std::vector<Override>& overrides);

  // Returns the world size for a test that does not fix its own; 0: that of the run.
  int world_size_of(const std::string& plugin, const wire::TestInfo& test) const;
  // Changes the timeout, tags and locks of the test. Returns its retries; -1: those of the run.
  int apply_to(const std::string& plugin, wire::TestInfo& test) const;

 private:
  struct Entry {
    Filter filter;
    Override changes;
  };
  std::vector<Entry> entries_;
};

}  // namespace distrun::runner
