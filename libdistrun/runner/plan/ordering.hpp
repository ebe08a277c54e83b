#pragma once
// In which order the planned tests run, if what is known from earlier runs may decide.
#include <functional>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include <distrun/runner/plan/plan.hpp>

namespace distrun::runner {

// How a plugin is called from run to run: the name of its file, wherever that lies.
std::string plugin_name(const std::string& path);

// What earlier runs tell of a test.
struct Hint {
  std::optional<Verdict> last;        // of its newest result that says something about it
  std::optional<Nanoseconds> median;  // of its duration
};

class Hints {
 public:
  void add(const std::string& plugin, const std::string& id, const Hint& hint);
  // An empty one for a test that is not known. `plugin` may be a path.
  Hint of(const std::string& plugin, const std::string& id) const;
  std::size_t size() const noexcept { return hints_.size(); }

 private:
  std::unordered_map<std::string, Hint> hints_;  // by plugin and id
};

// Tests that did not simply pass the last time come first; then the longest first, a test without a duration being
// taken for one of a second. So news comes early, and the end does not wait for a long one. Tests that will be skipped
// come last. Otherwise the order stays. The tests of a suite whose ranks stay are taken as one, which takes as long as
// all of them and has failed if one has.
void order_failed_first(std::vector<PlannedTest>& tests, const Hints& hints);
// The same where plugins of one name may be of different projects: `hint_of` knows which are meant.
using HintOf = std::function<Hint(const PlannedTest& test)>;
void order_failed_first(std::vector<PlannedTest>& tests, const HintOf& hint_of);

}  // namespace distrun::runner
