// Small worlds, in every order of events. Bounds that multiply are in separate worlds: shares build trees, references
// interact only through numbers and ids, faults and losses combine with both.
#include <catch2/catch.hpp>

#include <algorithm>
#include <chrono>
#include <iostream>

#include "model/explore.hpp"
#include "support/environment.hpp"

namespace distrun::rref::model {
namespace {

constexpr std::size_t kMost = 8'000'000;

// Removes a share or a reference, unless all tests are run whole, which takes minutes. Each mutation of the negative
// control is detected in a smaller world.
Bounds small_enough(Bounds bounds) {
  if (testing::runs_whole()) return bounds;
  --(bounds.shares > 1 ? bounds.shares : bounds.references);
  bounds.references = std::max(bounds.references, 1);
  bounds.faults = std::min(bounds.faults, 1);
  return bounds;
}

void check_world(const Bounds& wanted) {
  const Bounds bounds = small_enough(wanted);
  const auto begin = std::chrono::steady_clock::now();
  const Explored explored = explore(bounds, kMost);
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  std::cout << text(explored, bounds, took.count()) << std::endl;
  INFO(text(bounds) << "\n" << explored.violation);
  CHECK(explored.violation.empty());
  CHECK(explored.is_complete);
  CHECK(explored.ends > 0);
}

Bounds world(int references, int shares) {
  Bounds bounds;
  bounds.references = references;
  bounds.shares = shares;
  return bounds;
}

TEST_CASE("one reference that is shared three times") { check_world(world(1, 3)); }

TEST_CASE("two references, made by calls or by their owners, that are shared twice") {
  Bounds bounds = world(2, 2);
  bounds.has_locals = true;
  check_world(bounds);
}

TEST_CASE("creations that are given up, and forks that are given back") {
  Bounds bounds = world(1, 2);
  bounds.give_ups = bounds.withdraws = 1;
  bounds.has_locals = bounds.shares_with_self = true;
  check_world(bounds);
  bounds = world(2, 1);
  bounds.give_ups = bounds.withdraws = 1;
  bounds.has_locals = bounds.shares_with_self = true;
  check_world(bounds);
}

TEST_CASE("messages that are lost, doubled and late") {
  Bounds bounds = world(1, 2);
  bounds.faults = 2;
  bounds.give_ups = 1;
  check_world(bounds);
  bounds = world(2, 1);
  bounds.faults = 16;  // every exchange
  check_world(bounds);
}

TEST_CASE("a worker that dies at any moment, and a loss that others notice at any later one") {
  Bounds bounds = world(1, 3);
  bounds.losses = 1;
  check_world(bounds);
  bounds = world(2, 1);
  bounds.losses = bounds.withdraws = 1;
  bounds.has_locals = bounds.shares_with_self = true;
  check_world(bounds);
}

TEST_CASE("a worker that dies while messages are lost and doubled, and calls given up") {
  Bounds bounds = world(1, 2);
  bounds.losses = bounds.faults = bounds.give_ups = bounds.withdraws = 1;
  check_world(bounds);
  bounds = world(1, 1);
  bounds.losses = bounds.give_ups = 1;
  bounds.faults = 3;
  check_world(bounds);
}

}  // namespace
}  // namespace distrun::rref::model
