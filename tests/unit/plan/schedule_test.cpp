#include <distrun/runner/plan/schedule.hpp>

#include <catch2/catch.hpp>

#include <string>

using namespace distrun;
using namespace distrun::runner;

namespace {

PlannedTest planned(const std::string& suite, int ranks, Isolation isolation = Isolation::Process, int devices = 0) {
  PlannedTest test;
  test.plugin = "ring.so";
  test.info.suite = suite;
  test.info.devices = devices;
  test.variant.world_size = ranks;
  test.variant.isolation = isolation;
  return test;
}

std::string text_of(const std::vector<Batch>& all) {
  std::string text;
  for (const Batch& batch : all) text += std::to_string(batch.begin) + "-" + std::to_string(batch.end) + " ";
  return text;
}

Batch batch_of(int ranks, bool devices = false) { return {0, 1, ranks, devices}; }

Room room_of(int ranks) { return {{ranks}}; }

// Two machines, which share the ranks of a world evenly, the first one the last.
std::vector<int> in_halves(int world_size) { return {world_size - world_size / 2, world_size / 2}; }

}  // namespace

TEST_CASE("a test is a separate batch, but a suite with persistent ranks is one batch") {
  CHECK(text_of(batches({planned("A", 2), planned("A", 2), planned("B", 2)})) == "0-1 1-2 2-3 ");
  CHECK(text_of(batches({planned("A", 2, Isolation::Pool), planned("A", 2, Isolation::Pool),
                         planned("B", 2, Isolation::Pool)})) == "0-2 2-3 ");
  CHECK(text_of(batches({planned("A", 2, Isolation::Threads), planned("A", 4, Isolation::Threads)})) == "0-1 1-2 ");
  CHECK(text_of(batches({planned("A", 2, Isolation::Pool), planned("A", 2, Isolation::Exec),
                         planned("A", 2, Isolation::Pool)})) == "0-1 1-2 2-3 ");
  CHECK(text_of(batches({})) == "");
}

TEST_CASE("batches begin in order while they fit, and smaller ones may go first") {
  Schedule schedule({batch_of(4), batch_of(8), batch_of(4), batch_of(2)}, room_of(8));
  CHECK(schedule.next()->ranks == 4);
  CHECK(schedule.next()->ranks == 4);  // there is no room for the one of eight
  CHECK_FALSE(schedule.next());
  schedule.over(batch_of(4));
  CHECK(schedule.next()->ranks == 2);
  schedule.over(batch_of(4));
  CHECK_FALSE(schedule.next());
  schedule.over(batch_of(2));
  CHECK(schedule.next()->ranks == 8);
  CHECK(schedule.empty());
}

TEST_CASE("a batch that exceeds the machine runs alone") {
  Schedule schedule({batch_of(100), batch_of(1)}, room_of(8));
  CHECK(schedule.next()->ranks == 100);
  CHECK_FALSE(schedule.next());
  schedule.over(batch_of(100));
  CHECK(schedule.next()->ranks == 1);
}

TEST_CASE("tests that use devices run one at a time, beside others") {
  Schedule schedule({batch_of(1, true), batch_of(1, true), batch_of(1)}, room_of(8));
  CHECK(schedule.next()->devices);
  CHECK_FALSE(schedule.next()->devices);
  CHECK_FALSE(schedule.next());
  schedule.over(batch_of(1, true));
  CHECK(schedule.next()->devices);
}

TEST_CASE("a batch that may not begin yet lets others go first") {
  Batch first = batch_of(1);
  first.locks = {"taken elsewhere"};
  Schedule schedule({first, batch_of(2)}, room_of(8));
  const auto has_none = [](const Batch& each) { return each.locks.empty(); };
  CHECK(schedule.next(has_none)->ranks == 2);
  CHECK_FALSE(schedule.next(has_none));
  CHECK(schedule.next()->locks == first.locks);
}

TEST_CASE("a batch has the locks of all of its tests") {
  std::vector<PlannedTest> tests{planned("A", 2, Isolation::Pool), planned("A", 2, Isolation::Pool)};
  tests[0].info.locks = {"b"};
  tests[1].info.locks = {"a", "b"};
  CHECK(batches(tests).at(0).locks == std::vector<std::string>{"a", "b"});
}

TEST_CASE("the machine holds sixteen ranks per core, limited by memory") {
  CHECK(Room::of_machine(2, 0).ranks == std::vector{32});
  CHECK(Room::of_machine(2, std::uint64_t{64} << 24).ranks == std::vector{16});
  CHECK(Room::of_machine(0, 0).ranks == std::vector{16});
  CHECK(memory_available() > 0);
}

TEST_CASE("a batch waits until each machine has room for its ranks there") {
  Schedule schedule({batch_of(4), batch_of(4), batch_of(1)}, {{4, 2}, in_halves});
  CHECK(schedule.next()->ranks == 4);
  CHECK(schedule.next()->ranks == 1);  // the second machine is full, the first is not
  CHECK_FALSE(schedule.next());
  schedule.over(batch_of(1));
  CHECK_FALSE(schedule.next());
  schedule.over(batch_of(4));
  CHECK(schedule.next()->ranks == 4);
}

TEST_CASE("a batch that exceeds one of the machines runs alone") {
  Schedule schedule({batch_of(8), batch_of(1)}, {{16, 2}, in_halves});
  CHECK(schedule.next()->ranks == 8);
  CHECK(schedule.next()->ranks == 1);  // on the machine that still has room
  schedule.over(batch_of(1));
  schedule.over(batch_of(8));
}
