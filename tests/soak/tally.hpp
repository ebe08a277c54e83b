#pragma once
// The results of a soak: counts by fault and isolation, and every error, with the command that repeats it.
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "play.hpp"
#include "verify.hpp"

namespace distrun::soak {

// How the whole soak was started, for the commands that repeat a part of it.
struct Origin {
  int tests = 0;
  std::uint64_t seed = 0;
  Programs programs;
};

class Tally {
 public:
  explicit Tally(Origin origin) : origin_(std::move(origin)) {}

  void add(const Invocation& invocation, const std::vector<Checked>& checked);

  int tests() const noexcept { return tests_; }
  int wrong() const noexcept { return static_cast<int>(wrong_.size()); }
  // Returns faults and disturbances by isolation: how many there were, and how many of them were wrong.
  std::string matrix() const;
  std::string wrong_text() const;

 private:
  struct Count {
    int all = 0;
    int wrong = 0;
  };

  std::string describe(const Invocation& invocation, const Checked& checked) const;

  Origin origin_;
  int tests_ = 0;
  std::map<std::pair<std::string, std::string>, Count> counts_;  // by row and isolation
  std::vector<std::string> wrong_;
};

}  // namespace distrun::soak
