// Negative control of the model: it must detect protocols with a mutation of one line each (fork_protocol.lies).
#include <catch2/catch.hpp>

#include <cstdlib>
#include <fstream>
#include <iostream>
#include <set>
#include <string>

#include "model/explore.hpp"

namespace distrun::rref::model {
namespace {

using Catch::Matchers::Contains;

constexpr std::size_t kMost = 3'000'000;

struct Lie {
  const char* name;
  const char* found;  // part of the expected violation
  Bounds bounds;
};

Bounds small() {
  Bounds bounds;
  bounds.references = 1;
  bounds.shares = 1;
  return bounds;
}
Bounds small_with(int Bounds::*what) {
  Bounds bounds = small();
  bounds.*what = 1;
  return bounds;
}
Bounds two_shares(int losses) {
  Bounds bounds = small();
  bounds.shares = 2;
  bounds.losses = losses;
  return bounds;
}

const Lie kLies[] = {
    {"deletes-too-early-are-forgotten", "is left with", small_with(&Bounds::give_ups)},
    {"accepts-before-its-owner-knows", "does not know of its child", small()},
    {"twice-is-twice", "is left with", small_with(&Bounds::faults)},
    {"ends-with-children", "does not know of its child", small()},
    {"ends-unconfirmed", "is left with", small()},
    {"owner-shares-unnoted", "", two_shares(0)},
    {"shared-means-made", "made twice", two_shares(0)},
    {"withdrawn-stays", "is left with", small_with(&Bounds::withdraws)},
    {"dead-hold-on", "is left with", small_with(&Bounds::losses)},
    {"a-loss-releases-unmade", "early free", two_shares(1)},
    {"dead-accept", "is left with", small_with(&Bounds::losses)},
    {"dead-are-asked", "is left with", two_shares(1)},
};

class Telling {
 public:
  explicit Telling(const char* lie) { ::setenv("DISTRUN_LIE", lie, 1); }
  ~Telling() { ::unsetenv("DISTRUN_LIE"); }
};

TEST_CASE("the model finds each lie, by the fewest steps") {
  for (const Lie& lie : kLies) {
    const Telling telling(lie.name);
    const Explored explored = explore(lie.bounds, kMost);
    std::cout << lie.name << ": after " << explored.states << " states, in " << explored.depth + 1 << " steps, "
              << explored.violation.substr(0, explored.violation.find('\n')) << std::endl;
    INFO(lie.name);
    CHECK_FALSE(explored.violation.empty());
    CHECK_THAT(explored.violation, Contains(lie.found));
  }
}

TEST_CASE("the model finds nothing where no lie is told") {
  for (const Lie& lie : kLies) {
    const Explored explored = explore(lie.bounds, kMost);
    INFO(lie.name << "\n" << explored.violation);
    CHECK(explored.violation.empty());
  }
}

TEST_CASE("each lie of the list is told") {
  std::ifstream list(DISTRUN_LIES);
  std::set<std::string> named;
  for (std::string line; std::getline(list, line);) {
    if (line.rfind("lie ", 0) == 0) named.insert(line.substr(4, line.find(':') - 4));
  }
  std::set<std::string> told;
  for (const Lie& lie : kLies) told.insert(lie.name);
  CHECK(named == told);
}

}  // namespace
}  // namespace distrun::rref::model
