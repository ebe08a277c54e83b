// Compares the ids of released contexts with a plain set.
#include <catch2/catch.hpp>

#include <limits>
#include <random>
#include <set>

#include <distrun/runtime/dist_autograd/released_ids.hpp>

namespace distrun::dist_autograd {
namespace {

TEST_CASE("ids that were added in any order are found, and no others") {
  std::mt19937 random(7);
  for (int round = 0; round < 50; ++round) {
    ReleasedIds ids(1000);
    std::set<ContextId> wanted;
    for (int i = 0; i < 100; ++i) {
      const ContextId id = static_cast<ContextId>(random() % 128) + (ContextId{3} << 48);
      ids.add(id);
      wanted.insert(id);
    }
    for (ContextId id = ContextId{3} << 48; id < (ContextId{3} << 48) + 130; ++id) {
      REQUIRE(ids.contains(id) == (wanted.count(id) != 0));
    }
  }
}

TEST_CASE("adjacent ids are one range, in any order of arrival") {
  ReleasedIds ids(10);
  for (const ContextId id : {5, 7, 6, 4, 9, 8, 5}) ids.add(id);
  CHECK(ids.ranges() == 1);
  ids.add(11);
  CHECK(ids.ranges() == 2);
}

TEST_CASE("the largest id and the smallest are treated like others") {
  constexpr auto kLargest = std::numeric_limits<ContextId>::max(), kSmallest = std::numeric_limits<ContextId>::min();
  ReleasedIds ids(10);
  for (const ContextId id : {kLargest, kSmallest, kLargest - 1, kSmallest + 1}) ids.add(id);
  CHECK(ids.ranges() == 2);
  CHECK(ids.contains(kLargest));
  CHECK(ids.contains(kSmallest));
  CHECK_FALSE(ids.contains(0));
}

TEST_CASE("the lowest ids are forgotten when there are too many") {
  ReleasedIds ids(2);
  for (const ContextId id : {1, 3, 5}) ids.add(id);
  CHECK_FALSE(ids.contains(1));
  CHECK(ids.contains(3));
  CHECK(ids.contains(5));
}

}  // namespace
}  // namespace distrun::dist_autograd
