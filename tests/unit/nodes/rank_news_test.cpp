#include <catch2/catch.hpp>

#include <vector>

#include <distrun/runner/nodes/rank_news.hpp>

#include "../attempt/fake_node.hpp"
#include "../support/loop.hpp"
#include "no_events.hpp"

namespace distrun::nodes {
namespace {

// Stands still, so that every look is due at once.
class StillClock final : public base::Clock {
 public:
  base::TimePoint now() const override { return time; }
  std::int64_t wall_ns() const override { return 0; }
  base::TimePoint time = base::system_clock().now();
};

// Two ranks; counts how often it is asked for what costs files of /proc.
class CountingWorld final : public runner::fake::World {
 public:
  CountingWorld(io::Loop& loop, launch::WorldEvents& events) : World(loop, spec_of_two(), events) {}
  std::optional<board::Shown> shown(int rank) const override {
    if (rank == 0) ++looks;
    return World::shown(rank);
  }
  launch::ProcessState process_state(int rank) const override {
    if (rank == 0) ++readings;
    return {.exists = true, .stopped = is_stopped};
  }
  bool is_stopped = false;
  mutable int looks = 0;
  mutable int readings = 0;

 private:
  static launch::WorldSpec spec_of_two() {
    launch::WorldSpec spec;
    spec.world_size = 2;
    return spec;
  }
};

struct Watched {
  Watched() {
    news.begin();
    look_again(5);
  }
  void look_again(int times = 1) {
    const int before = world.looks;
    REQUIRE(testing::run_until(loop, [&] { return world.looks >= before + times; }));
  }

  StillClock clock;
  io::Loop loop{clock};
  NoEvents events;
  CountingWorld world{loop, events};
  std::vector<std::vector<RankView>> told;
  RankNews news{loop, world, 0, 2, [this](std::vector<RankView> changed) { told.push_back(std::move(changed)); }};
};

}  // namespace

TEST_CASE("the state of a process is read again when it has run, and once a second") {
  Watched watched;
  CHECK(watched.world.readings == 1);
  watched.world.used += std::chrono::microseconds(1);
  watched.look_again(5);
  CHECK(watched.world.readings == 2);
  watched.clock.time += std::chrono::milliseconds(999);
  watched.look_again(5);
  CHECK(watched.world.readings == 2);
  watched.clock.time += std::chrono::milliseconds(1);
  watched.look_again(5);
  CHECK(watched.world.readings == 3);
}

TEST_CASE("a rank is told of once, and again when it has changed") {
  Watched watched;
  REQUIRE(watched.told.size() == 1);
  CHECK(watched.told[0].size() == 2);
  watched.world.boards[1].epoch = 7;
  watched.look_again(5);
  REQUIRE(watched.told.size() == 2);
  REQUIRE(watched.told[1].size() == 1);
  CHECK(watched.told[1][0].rank == 1);
  CHECK(watched.told[1][0].shown.value().epoch == 7);
}

TEST_CASE("news that are asked for are those of this moment") {
  Watched watched;
  watched.world.is_stopped = true;
  SECTION("all that has changed is told") {
    watched.news.tell_now();
    REQUIRE(watched.told.size() == 2);
    CHECK(watched.told[1].at(0).process.stopped);
  }
  SECTION("one rank") { CHECK(watched.news.view_of(1).process.stopped); }
  SECTION("all ranks") { CHECK(watched.news.views().at(1).process.stopped); }
}

}  // namespace distrun::nodes
