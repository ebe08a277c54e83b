// Negative control of the model: it must detect protocols with a mutation of one line each (fork_protocol.mutations).
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

struct Mutation {
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

const Mutation kMutations[] = {
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
  explicit Telling(const char* mutation) { ::setenv("DISTRUN_MUTATION", mutation, 1); }
  ~Telling() { ::unsetenv("DISTRUN_MUTATION"); }
};

TEST_CASE("the model detects each mutation, with the fewest steps") {
  for (const Mutation& mutation : kMutations) {
    const Telling telling(mutation.name);
    const Explored explored = explore(mutation.bounds, kMost);
    std::cout << mutation.name << ": after " << explored.states << " states, in " << explored.depth + 1 << " steps, "
              << explored.violation.substr(0, explored.violation.find('\n')) << std::endl;
    INFO(mutation.name);
    CHECK_FALSE(explored.violation.empty());
    CHECK_THAT(explored.violation, Contains(mutation.found));
  }
}

TEST_CASE("the model finds no violation without a mutation") {
  for (const Mutation& mutation : kMutations) {
    const Explored explored = explore(mutation.bounds, kMost);
    INFO(mutation.name << "\n" << explored.violation);
    CHECK(explored.violation.empty());
  }
}

TEST_CASE("each mutation of the list is implemented") {
  std::ifstream list(DISTRUN_MUTATIONS);
  std::set<std::string> named;
  for (std::string line; std::getline(list, line);) {
    if (line.rfind("mutation ", 0) == 0) named.insert(line.substr(9, line.find(':') - 9));
  }
  std::set<std::string> told;
  for (const Mutation& mutation : kMutations) told.insert(mutation.name);
  CHECK(named == told);
}

}  // namespace
}  // namespace distrun::rref::model
