#pragma once
// Orders the planned tests by the results of earlier runs.
#include <functional>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include <distrun/runner/plan/plan.hpp>

namespace distrun::runner {

// Returns the name that identifies a plugin across runs: its file name, in any directory.
std::string plugin_name(const std::string& path);

// The data of earlier runs about a test.
struct Hint {
  std::optional<Verdict> last;        // of its newest result that counts
  std::optional<Nanoseconds> median;  // of its durations
};

class Hints {
 public:
  void add(const std::string& plugin, const std::string& id, const Hint& hint);
  // Returns an empty hint for an unknown test. `plugin` may be a path.
  Hint of(const std::string& plugin, const std::string& id) const;
  std::size_t size() const noexcept { return hints_.size(); }

 private:
  std::unordered_map<std::string, Hint> hints_;  // by plugin and id
};

// Puts tests first that did not simply pass the last time, then the longest, counting a test of unknown duration as one
// second. So failures appear early, and the end does not wait for a long test. Tests to be skipped come last. Otherwise
// keeps the order. Tests of a suite with persistent ranks count as one, with the sum of their durations, that has
// failed if any of them has.
void order_failed_first(std::vector<PlannedTest>& tests, const Hints& hints);
// Orders likewise if plugins of one name may belong to different projects: `hint_of` knows the right one.
using HintOf = std::function<Hint(const PlannedTest& test)>;
void order_failed_first(std::vector<PlannedTest>& tests, const HintOf& hint_of);

}  // namespace distrun::runner
