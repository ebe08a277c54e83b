#include <distrun/plugin/rank/absent.hpp>

#include <catch2/catch.hpp>

#include <chrono>
#include <memory>
#include <optional>
#include <vector>

#include <distrun/common/board/slot_writer.hpp>

using namespace distrun;
using namespace distrun::rank;

namespace {

// Three ranks, seen from rank 0.
struct World {
  World() {
    for (int rank = 0; rank < 3; ++rank) {
      ranks.push_back(std::make_unique<board::RankBoard>(all.fd(), rank, 3));
      writers.emplace_back(ranks.back()->own());
      writers.back().attach();
    }
  }
  void come(int rank, const std::string& barrier, std::uint64_t round) {
    writers[static_cast<std::size_t>(rank)].note(board::WaitKind::Barrier, barrier, -1, round);
  }
  std::vector<int> absent(const std::string& barrier, std::uint64_t round, base::TimePoint test_began = {}) const {
    return absent_from(*ranks[0], 0, 3, {barrier, round, test_began});
  }
  board::Board all{3};
  std::vector<std::unique_ptr<board::RankBoard>> ranks;
  std::vector<board::SlotWriter> writers;
};

}  // namespace

TEST_CASE("exactly the ranks that have not arrived at a barrier are absent") {
  World world;
  CHECK(world.absent("meet", 1) == std::vector<int>{1, 2});
  world.come(2, "meet", 1);
  CHECK(world.absent("meet", 1) == std::vector<int>{1});
  world.come(1, "meet too", 1);
  CHECK(world.absent("meet", 1) == std::vector<int>{1});
}

TEST_CASE("one arrival of a rank does not count for the next round") {
  World world;
  world.come(1, "meet", 1);
  world.come(2, "meet", 1);
  world.come(2, "meet", 2);
  CHECK(world.absent("meet", 2) == std::vector<int>{1});
}

TEST_CASE("arrivals of the previous test do not count") {
  World world;
  world.come(1, "meet", 1);
  CHECK(world.absent("meet", 1, base::system_clock().now() + std::chrono::seconds(1)) == std::vector<int>{1, 2});
}

TEST_CASE("a rank that waits in the barrier has arrived, even if it did other things since") {
  World world;
  board::WaitInfo info;
  info.kind = board::WaitKind::Barrier;
  info.name = "meet";
  const int cell = world.writers[1].begin_wait(info, base::system_clock().now(), base::TimePoint::max());
  REQUIRE(cell >= 0);
  CHECK(world.absent("meet", 7) == std::vector<int>{2});
  world.writers[1].end_wait(cell);
}

TEST_CASE("a rank that has not yet left a finished barrier has not arrived at the next round") {
  World world;
  board::WaitInfo info;
  info.kind = board::WaitKind::Barrier;
  info.name = "meet";
  world.come(1, "meet", 1);
  const int cell = world.writers[1].begin_wait(info, base::system_clock().now(), base::TimePoint::max());
  CHECK(world.absent("meet", 2) == std::vector<int>{1, 2});
  world.writers[1].end_wait(cell);
}

TEST_CASE("a long name is compared as far as the board shows it") {
  World world;
  const std::string name(100, 'x');
  world.come(1, name, 1);
  CHECK(world.absent(name, 1) == std::vector<int>{2});
}

TEST_CASE("no rank is absent without a board") {
  CHECK(absent_from(board::RankBoard(), 0, 3, {"meet", 1, {}}).empty());
}

TEST_CASE("a rank of another host, which shows nothing here, is not called absent") {
  board::Board all(3);
  board::RankBoard own(all.fd(), 0, 3), here(all.fd(), 1, 3);
  board::SlotWriter writer(own.own()), neighbour(here.own());
  writer.attach();
  neighbour.attach();
  CHECK(absent_from(own, 0, 3, {"meet", 1, {}}, true) == std::vector<int>{1});
  CHECK(absent_from(own, 0, 3, {"meet", 1, {}}, false) == std::vector<int>{1, 2});
}

TEST_CASE("absent ranks are named, if there are any") {
  CHECK(absent_text({}).empty());
  CHECK(absent_text({1}) == ": rank 1 has not arrived");
  CHECK(absent_text({1, 3}) == ": ranks 1, 3 have not arrived");
}
