// A budget of bytes that several queues share.
#include <catch2/catch.hpp>

#include <optional>

#include <distrun/common/base/byte_budget.hpp>

using distrun::base::ByteBudget;
using distrun::base::CountedBytes;

TEST_CASE("a budget counts the bytes of all queues, until they are taken, cleared or destroyed") {
  ByteBudget budget(100);
  std::optional<CountedBytes> first(std::in_place, budget), second(std::in_place, budget);
  *first += 60;
  CHECK(budget.has_room());
  *second += 60;
  CHECK(budget.bytes() == 120);
  CHECK_FALSE(budget.has_room());
  *second -= 20;
  CHECK_FALSE(budget.has_room());  // 100 of 100
  second->set(10);
  CHECK(budget.bytes() == 70);
  second->set(40);
  CHECK(budget.bytes() == 100);
  first->clear();
  CHECK(budget.bytes() == 40);
  second.reset();
  CHECK(budget.bytes() == 0);
}

TEST_CASE("a queue that was cleared does not take the bytes of others from the budget") {
  ByteBudget budget(100);
  CountedBytes cleared(budget), other(budget);
  cleared += 30;
  other += 50;
  cleared.clear();
  cleared -= 30;
  CHECK(cleared == 0);
  CHECK(budget.bytes() == 50);
}

TEST_CASE("what is larger than a budget has room in an empty one only") {
  ByteBudget budget(100);
  CountedBytes queue(budget);
  CHECK(budget.has_room_for(100));
  CHECK(budget.has_room_for(1000));
  queue += 1;
  CHECK(budget.has_room_for(99));
  CHECK_FALSE(budget.has_room_for(100));
  CHECK_FALSE(budget.has_room_for(UINT64_MAX));
  queue += 200;
  CHECK_FALSE(budget.has_room_for(0));
}
