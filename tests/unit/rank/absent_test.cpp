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

TEST_CASE("who has not come to a barrier is absent, and no other") {
  World world;
  CHECK(world.absent("meet", 1) == std::vector<int>{1, 2});
  world.come(2, "meet", 1);
  CHECK(world.absent("meet", 1) == std::vector<int>{1});
  world.come(1, "meet too", 1);
  CHECK(world.absent("meet", 1) == std::vector<int>{1});
}

TEST_CASE("who has come once has not come twice") {
  World world;
  world.come(1, "meet", 1);
  world.come(2, "meet", 1);
  world.come(2, "meet", 2);
  CHECK(world.absent("meet", 2) == std::vector<int>{1});
}

TEST_CASE("what a rank did in the test before is not this one's") {
  World world;
  world.come(1, "meet", 1);
  CHECK(world.absent("meet", 1, base::system_clock().now() + std::chrono::seconds(1)) == std::vector<int>{1, 2});
}

TEST_CASE("who waits in the barrier has come, whatever else it did since") {
  World world;
  board::WaitInfo info;
  info.kind = board::WaitKind::Barrier;
  info.name = "meet";
  const int cell = world.writers[1].begin_wait(info, base::system_clock().now(), base::TimePoint::max());
  REQUIRE(cell >= 0);
  CHECK(world.absent("meet", 7) == std::vector<int>{2});
  world.writers[1].end_wait(cell);
}

TEST_CASE("who has not yet left a barrier that has ended has not come to the next one") {
  World world;
  board::WaitInfo info;
  info.kind = board::WaitKind::Barrier;
  info.name = "meet";
  world.come(1, "meet", 1);
  const int cell = world.writers[1].begin_wait(info, base::system_clock().now(), base::TimePoint::max());
  CHECK(world.absent("meet", 2) == std::vector<int>{1, 2});
  world.writers[1].end_wait(cell);
}

TEST_CASE("a long name is known by what the board shows of it") {
  World world;
  const std::string name(100, 'x');
  world.come(1, name, 1);
  CHECK(world.absent(name, 1) == std::vector<int>{2});
}

TEST_CASE("without a board nobody is absent") { CHECK(absent_from(board::RankBoard(), 0, 3, {"meet", 1, {}}).empty()); }

TEST_CASE("the absent are named, if there are any") {
  CHECK(absent_text({}).empty());
  CHECK(absent_text({1}) == ": rank 1 has not arrived");
  CHECK(absent_text({1, 3}) == ": ranks 1, 3 have not arrived");
}
