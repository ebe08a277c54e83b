#include <catch2/catch.hpp>

#include <sys/stat.h>

#include <algorithm>

#include <distrun/runner/attempt/sweep.hpp>

#include "stage.hpp"

using namespace distrun;
using namespace distrun::runner;
using namespace std::chrono_literals;

namespace {

struct Broom {
  Broom() {
    places.run_id = "sweep0run0id";
    places.temp_dir = scratch.directory("tmp");
    places.start_dir = scratch.directory("start");
    names.emplace(places);
    resources.emplace(*names, nullptr, nullptr, "Ring.pass");
    world = std::make_shared<fake::World>(loop, launch::WorldSpec{"ring.so", Isolation::Process, 1}, events);
  }
  std::vector<Leak>& sweep(bool patient = true) {
    run.emplace(loop, *world, *resources, graces, patient,
                [this](std::vector<Leak> leaks) { found = std::move(leaks); });
    run->start();
    if (!testing::run_until(loop, [&] { return found.has_value(); })) throw std::runtime_error("it does not end");
    return *found;
  }
  std::string temp(const std::string& name) const { return places.temp_dir + "/" + name; }
  // Creates a file that a rank held when it ended.
  std::string held(const std::string& name) {
    testing::write_file(temp(name), "");
    struct stat status {};
    ::stat(temp(name).c_str(), &status);
    resources->add_held({{temp(name), status.st_dev, status.st_ino}});
    return temp(name);
  }

  struct Deaf final : launch::WorldEvents {
    void on_rank_started(int, int) override {}
    void on_frame(int, const wire::Frame&) override {}
    void on_connection_lost(int, const std::string&) override {}
    void on_rank_ended(int, proc::ExitStatus, int) override {}
    void on_spawn_failed(const std::string&) override {}
  };
  testing::Scratch scratch;
  io::Loop loop;
  Deaf events;
  proc::RunPlaces places;
  std::optional<NameWatch> names;
  std::optional<TestResources> resources;
  Graces graces = short_graces();
  std::shared_ptr<fake::World> world;
  std::optional<Sweep> run;
  std::optional<std::vector<Leak>> found;
};

}  // namespace

TEST_CASE("a world without leftovers is swept at once") {
  Broom broom;
  broom.graces.leak = 1h;
  CHECK(broom.sweep().empty());
}

TEST_CASE("a process that exits within the grace is not a leak") {
  Broom broom;
  broom.graces.leak = 1h;
  broom.world->left = {{"4711 (sleep 1)"}};
  broom.held("x");
  io::Alarm later(broom.loop, [&] {
    broom.world->left.clear();
    ::unlink(broom.temp("x").c_str());
  });
  later.set(std::chrono::steady_clock::now() + 20ms);
  CHECK(broom.sweep().empty());
}

TEST_CASE("a process that stays is named once the grace is over, and ended") {
  Broom broom;
  broom.world->left = {{"4711 (sleep 100)"}};
  broom.world->ends_needed = 3;
  broom.held("x");
  const auto began = std::chrono::steady_clock::now();
  const std::vector<Leak>& leaks = broom.sweep();
  CHECK(std::chrono::steady_clock::now() - began >= broom.graces.leak);
  REQUIRE(leaks.size() == 2);
  CHECK(leaks[0].kind == LeakKind::Process);
  CHECK(leaks[0].what == "4711 (sleep 100)");
  CHECK(leaks[0].removed);
  CHECK(leaks[1].kind == LeakKind::File);
  CHECK(leaks[1].what == broom.temp("x"));
  CHECK_FALSE(leaks[1].removed);
  CHECK(testing::exists(broom.temp("x")));  // it may belong to another program
  CHECK(broom.world->left.empty());
}

TEST_CASE("a process that the kernel removes when the grace is over is not a leak") {
  Broom broom;
  broom.graces.kill = 1h;
  broom.world->left = {{"4711 ([big])", true}};
  io::Alarm later(broom.loop, [&] { broom.world->left.clear(); });
  later.set(std::chrono::steady_clock::now() + broom.graces.leak + 20ms);
  CHECK(broom.sweep().empty());
}

TEST_CASE("a process that the kernel removes is not a leak either while another process still runs") {
  Broom broom;
  broom.world->left = {{"4711 ([big])", true}, {"4712 (sleep 100)", false}};
  broom.world->ends_needed = 3;
  const std::vector<Leak>& leaks = broom.sweep();
  REQUIRE(leaks.size() == 1);
  CHECK(leaks[0].what == "4712 (sleep 100)");
}

TEST_CASE("a file that an ending process leaves behind is a leak") {
  Broom broom;
  broom.graces.kill = 1h;
  broom.world->left = {{"4711 ([hopper])", true}};
  io::Alarm later(broom.loop, [&] { broom.world->left = {{"4712 (hopper)", false}}; });
  later.set(std::chrono::steady_clock::now() + broom.graces.leak + 20ms);
  const std::vector<Leak>& leaks = broom.sweep();
  REQUIRE(leaks.size() == 1);
  CHECK(leaks[0].what == "4712 (hopper)");
}

// A process that replaces itself is seen ending each time.
TEST_CASE("a leftover found only at the end of the sweep is a leak, once") {
  Broom broom;
  broom.world->left = {{"4711 (hopper)", true}};
  broom.graces.kill = Nanoseconds::zero();
  broom.world->ended = {"4712 (hopper)", "4712 (hopper)"};
  const std::vector<Leak>& leaks = broom.sweep();
  REQUIRE(leaks.size() == 1);
  CHECK(leaks[0].what == "4712 (hopper)");
  CHECK(leaks[0].removed);
}

TEST_CASE("an impatient sweep does not wait for leftover processes") {
  Broom broom;
  broom.graces.leak = 1h;
  broom.graces.kill = 1h;
  const bool ends = GENERATE(false, true);
  broom.world->left = {{"4711 (sleep 100)", ends}};
  CHECK(broom.sweep(false).size() == (ends ? 0 : 1));
}

TEST_CASE("names with the run's id are removed") {
  Broom broom;
  testing::write_file(broom.temp("x-sweep0run0id"), "");
  const std::vector<Leak>& leaks = broom.sweep();
  REQUIRE(leaks.size() == 1);
  CHECK(leaks[0].removed);
  CHECK_FALSE(testing::exists(broom.temp("x-sweep0run0id")));
}

TEST_CASE("a process that does not exit is reported as such, once") {
  Broom broom;
  broom.world->left = {{"4711 (stuck)", GENERATE(false, true)}};  // the kernel may take for ever to clear it away
  broom.world->ends_needed = 1'000'000;
  const std::vector<Leak>& leaks = broom.sweep();
  REQUIRE(leaks.size() == 1);
  CHECK(leaks[0].what == "4711 (stuck), which SIGKILL did not end");
  CHECK_FALSE(leaks[0].removed);
}

TEST_CASE("a process that exits long after SIGKILL is no process that SIGKILL did not end") {
  Broom broom;
  broom.graces.exit = 1h;
  broom.world->left = {{"4711 (sleep 100)"}};
  broom.world->ends_needed = 1'000'000;
  broom.world->on_end_leftovers = [&] { broom.world->left = {{"4711 ([sleep])", true}}; };
  io::Alarm later(broom.loop, [&] { broom.world->ends_needed = 1; });
  later.set(std::chrono::steady_clock::now() + broom.graces.leak + 2 * broom.graces.kill);
  const std::vector<Leak>& leaks = broom.sweep();
  REQUIRE(leaks.size() == 1);
  CHECK(leaks[0].what == "4711 (sleep 100)");
  CHECK(leaks[0].removed);
}

TEST_CASE("a process that loses its name while it exits is reported once") {
  Broom broom;
  broom.world->left = {{"4711 (stuck)"}};
  broom.world->ends_needed = 1'000'000;
  broom.world->on_end_leftovers = [&] { broom.world->left = {{"4711 ([distrun-rank])", true}}; };
  const std::vector<Leak>& leaks = broom.sweep();
  REQUIRE(leaks.size() == 1);
  CHECK(leaks[0].what == "4711 ([distrun-rank]), which SIGKILL did not end");
}

TEST_CASE("a new name that no process of the attempt uses is not a leak, and the sweep does not wait for it") {
  Broom broom;
  broom.graces.leak = 1h;
  testing::write_file(broom.temp("x"), "");
  CHECK(broom.sweep().empty());
  CHECK(testing::exists(broom.temp("x")));
  const auto strangers = broom.names->strangers();
  CHECK(std::count(strangers.begin(), strangers.end(), broom.temp("x")) == 1);
}

TEST_CASE("a file that a leftover process uses is found") {
  Broom broom;
  testing::write_file(broom.temp("held"), "");
  struct stat status {};
  ::stat(broom.temp("held").c_str(), &status);
  broom.world->held = {{broom.temp("held"), status.st_dev, status.st_ino}};
  broom.world->left = {{"4711 (writer)"}};
  const std::vector<Leak>& leaks = broom.sweep();
  REQUIRE(leaks.size() == 2);
  CHECK(leaks[1].what == broom.temp("held"));
}

TEST_CASE("a leak that was reported once is not reported again by the next sweep") {
  Broom broom;
  broom.held("x");
  CHECK(broom.sweep().size() == 1);
  broom.found.reset();
  CHECK(broom.sweep().empty());
}
