#include <distrun/runner/name_watch.hpp>

#include <catch2/catch.hpp>

#include <filesystem>
#include <fstream>
#include <optional>

#include "../../support/scratch.hpp"

using namespace distrun;
using distrun::runner::NameWatch;

namespace {

struct Watched {
  Watched() {
    places.run_id = "watch0run0id";
    places.temp_dir = scratch.directory("tmp");
    places.start_dir = scratch.directory("start");
    watch.emplace(places);
    watch->forget();
  }
  std::string leave(const std::string& name) {
    const std::string path = places.temp_dir + "/" + name;
    std::ofstream(path) << "here";
    return path;
  }
  testing::Scratch scratch;
  proc::RunPlaces places;
  std::optional<NameWatch> watch;
};

using Tests = std::set<std::string>;

}  // namespace

TEST_CASE("a new name is that of the only test that runs") {
  Watched at;
  at.watch->begin("A");
  const std::string path = at.leave("x");
  const auto names = at.watch->look();
  REQUIRE(names.size() == 1);
  CHECK(names[0].path == path);
  at.watch->forget();
  at.watch->end("A");
  CHECK(at.watch->suspicions().empty());
}

TEST_CASE("of tests that run at the same time none is blamed for a name, and all are named in the end") {
  Watched at;
  at.watch->begin("A");
  at.watch->begin("B");
  const std::string path = at.leave("x");
  CHECK(at.watch->look().empty());
  at.watch->forget();
  at.watch->end("A");
  CHECK(at.watch->look().empty());  // B has not run alone
  at.watch->end("B");
  const auto suspicions = at.watch->suspicions();
  REQUIRE(suspicions.size() == 1);
  CHECK(suspicions[0].path == path);
  CHECK(suspicions[0].tests == Tests{"A", "B"});
}

TEST_CASE("a name that vanishes before the end is nobody's") {
  Watched at;
  at.watch->begin("A");
  at.watch->begin("B");
  const std::string path = at.leave("x");
  at.watch->look();
  at.watch->end("B");
  at.watch->end("A");
  std::filesystem::remove(path);
  CHECK(at.watch->suspicions().empty());
}

TEST_CASE("what was there before a test began is not suspected to be its") {
  Watched at;
  at.watch->begin("A");
  at.leave("x");
  at.watch->begin("B");
  at.watch->end("A");
  at.watch->end("B");
  REQUIRE(at.watch->suspicions().size() == 1);
  CHECK(at.watch->suspicions()[0].tests == Tests{"A"});
}

TEST_CASE("once nothing has run for a moment, the next test answers for its names again") {
  Watched at;
  at.watch->begin("A");
  at.watch->begin("B");
  at.watch->end("A");
  at.watch->end("B");
  at.watch->begin("C");
  at.leave("y");
  CHECK(at.watch->look().size() == 1);
  at.watch->end("C");
}
