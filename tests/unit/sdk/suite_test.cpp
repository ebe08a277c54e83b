// Suite fixtures: in the host, and around the tests of a rank.
#include <catch2/catch.hpp>

#include <map>
#include <stdexcept>
#include <string>

#include <distrun/test.hpp>

#include "fake_line.hpp"

namespace {

using namespace distrun;
using sdk_test::FakeLine;
using sdk_test::FakeList;
using sdk_test::lend;
using sdk_test::load_plugin;
using sdk_test::text_of;

std::vector<std::string> done;  // actions of fixtures, in order

class Fleet : public SuiteFixture {
 public:
  ~Fleet() override { done.push_back("gone"); }
  void set_up_host(Host& host) override {
    done.push_back("host up " + std::string(host.suite()) + " in " + std::string(host.temp_dir()));
    host.set("port", "4711");
    if (on_host_up) on_host_up(host);
  }
  void tear_down_host(Host&) override {
    done.push_back("host down");
    if (on_down) on_down();
  }
  void set_up_suite(Rank& rank) override {
    done.push_back("up " + std::to_string(rank.rank()));
    if (on_up) on_up();
    ships = 3;
  }
  void tear_down_suite(Rank& rank) override {
    done.push_back("down " + std::to_string(rank.rank()));
    if (on_down) on_down();
  }
  int ships = 0;

  static inline std::function<void(Host&)> on_host_up;
  static inline std::function<void()> on_up;
  static inline std::function<void()> on_down;
};
DISTRUN_SUITE_FIXTURE(Fleet, Fleet);
DISTRUN_TEST(Fleet, sails) { DISTRUN_EXPECT(rank.suite<Fleet>().ships == 3); }
DISTRUN_TEST(Fleet, lands) { DISTRUN_EXPECT(rank.setting("port") == "4711"); }

class Quiet : public SuiteFixture {};
DISTRUN_SUITE_FIXTURE(Quiet, Quiet);
DISTRUN_TEST(Quiet, has_another_fixture) { static_cast<void>(rank.suite<Fleet>()); }
class Louder : public Quiet {
 public:
  void tear_down_host(Host&) override {}
};
static_assert(!detail::has_host_code<Quiet>());
static_assert(detail::has_host_code<Louder>());
class Loudest : public Louder {};
static_assert(detail::has_host_code<Loudest>());

struct Play {
  Play() {
    done.clear();
    Fleet::on_host_up = {};
    Fleet::on_up = Fleet::on_down = {};
    line.rank.suite_dir = lend(directory);
    line.rank.set = [](void* self, distrun_string key, distrun_string value) {
      auto& rank = *static_cast<FakeLine*>(self);
      if (key.size == 0) return static_cast<std::int32_t>(DISTRUN_INVALID);
      rank.said.push_back("set " + text_of(key) + "=" + text_of(value));
      return static_cast<std::int32_t>(DISTRUN_OK);
    };
  }
  ~Play() { leave(); }
  std::int32_t leave() { return plugin.leave(plugin.self, &line.rank); }
  std::int32_t set_up_host(const std::string& suite = "Fleet") {
    line.rank.rank = -1;
    line.rank.temp_dir = lend(directory);
    return plugin.set_up_host(plugin.self, lend(suite), &line.rank);
  }
  std::int32_t tear_down_host() { return plugin.tear_down_host(plugin.self, lend("Fleet"), &line.rank); }
  void give_setting(const std::string& key, const std::string& value) {
    setting = {lend(key), lend(value)};
    line.rank.settings = &setting;
    line.rank.setting_count = 1;
  }

  FakeLine line;
  distrun_plugin plugin = load_plugin();
  std::string directory = "/tmp/suite";
  distrun_key_value setting{};
};

using Names = std::vector<std::string>;

}  // namespace

TEST_CASE("a rank's suite is set up once for all of its tests, and torn down when the rank exits", "[sdk]") {
  Play play;
  const std::string key = "port";
  const std::string value = "4711";
  play.give_setting(key, value);
  CHECK(play.line.run("Fleet.sails") == DISTRUN_OK);
  CHECK(play.line.run("Fleet.lands") == DISTRUN_OK);
  CHECK(done == Names{"up 1"});
  CHECK(play.leave() == DISTRUN_OK);
  CHECK(done == Names{"up 1", "down 1", "gone"});
  CHECK(play.line.said == Names{"phase 3", "phase 4", "phase 3", "phase 4", "phase 5"});
  CHECK(play.leave() == DISTRUN_OK);
  CHECK(done.size() == 3);
}

TEST_CASE("a test fails if its suite cannot be set up, and the next one tries again", "[sdk]") {
  Play play;
  Fleet::on_up = [] { throw std::runtime_error("no water"); };
  CHECK(play.line.run("Fleet.sails") == DISTRUN_FAILED);
  REQUIRE(play.line.errors.size() == 1);
  CHECK(play.line.errors[0].text == "in the suite's set-up: no water");
  CHECK(play.line.said == Names{"phase 3", "error"});
  Fleet::on_up = {};
  CHECK(play.line.run("Fleet.sails") == DISTRUN_OK);
  CHECK(done == Names{"up 1", "gone", "up 1"});
}

TEST_CASE("a suite that skips in a rank skips there for all its tests", "[sdk]") {
  Play play;
  Fleet::on_up = [] { distrun::skip("low tide"); };
  CHECK(play.line.run("Fleet.sails") == DISTRUN_SKIPPED);
  CHECK(play.line.run("Fleet.lands") == DISTRUN_SKIPPED);
  CHECK(done == Names{"up 1", "gone"});
  CHECK(play.line.said == Names{"phase 3", "skip 86 low tide", "phase 3", "skip 86 low tide"});
  CHECK(play.leave() == DISTRUN_OK);
  Fleet::on_up = {};
  CHECK(play.line.run("Fleet.sails") == DISTRUN_OK);  // another set of ranks
}

TEST_CASE("failures in a suite's tear-down are the rank's failure", "[sdk]") {
  Play play;
  REQUIRE(play.line.run("Fleet.sails") == DISTRUN_OK);
  const std::string text = GENERATE(std::string("no harbour"), std::string("skip: fog"));
  Fleet::on_down = [&] {
    if (text == "skip: fog") distrun::skip("fog");
    DISTRUN_FAIL(text);
  };
  CHECK(play.leave() == DISTRUN_FAILED);
  REQUIRE(play.line.errors.size() == 1);
  CHECK(play.line.errors[0].text == "in the suite's tear-down: " + text);
}

TEST_CASE("the host sets up with its directory, sets values for the ranks, and tears the same object down", "[sdk]") {
  Play play;
  CHECK(play.set_up_host() == DISTRUN_OK);
  CHECK(done == Names{"host up Fleet in /tmp/suite"});
  CHECK(play.line.said == Names{"phase 3", "set port=4711"});
  CHECK(play.tear_down_host() == DISTRUN_OK);
  CHECK(done == Names{"host up Fleet in /tmp/suite", "host down", "gone"});
  CHECK(play.tear_down_host() == DISTRUN_NOT_FOUND);
}

TEST_CASE("checks, exceptions and skips of the host are reported separately", "[sdk]") {
  Play play;
  Fleet::on_host_up = [](Host& host) {
    DISTRUN_EXPECT(host.gpus() == 3);
    host.set("", "");
  };
  CHECK(play.set_up_host() == DISTRUN_FAILED);
  REQUIRE(play.line.errors.size() == 2);
  CHECK_FALSE(play.line.errors[0].ends_body);
  CHECK_THAT(play.line.errors[1].text, Catch::Contains("at most 1000 keys and 1 MiB"));
  CHECK_THAT(play.line.errors[1].file, Catch::EndsWith("suite_test.cpp"));
  CHECK(play.line.checks == 1);
}

TEST_CASE("a host that skips gives the reason", "[sdk]") {
  Play play;
  Fleet::on_host_up = [](Host&) { distrun::skip_as("no_cuda"); };
  CHECK(play.set_up_host() == DISTRUN_SKIPPED);
  CHECK(play.line.said.back() == "skip 74 CUDA is not available.");
}

TEST_CASE("a suite without a fixture has no host, and ranks report missing values", "[sdk]") {
  Play play;
  CHECK(play.set_up_host("Names") == DISTRUN_NOT_FOUND);
  play.line.rank.rank = 1;
  CHECK(play.line.run("Fleet.lands") == DISTRUN_FAILED);
  CHECK(play.line.errors.back().text == "no setting 'port'; the suite's host set none");
  CHECK(play.line.run("Quiet.has_another_fixture") == DISTRUN_FAILED);
  CHECK(play.line.errors.back().text == "the suite's fixture has another class");
}

TEST_CASE("a rank of an older distrun does not support suites", "[sdk]") {
  Play play;
  play.line.rank.size = offsetof(distrun_rank, suite_dir);
  CHECK(play.line.run("Fleet.sails") == DISTRUN_OK);
  CHECK(play.line.run("Fleet.lands") == DISTRUN_FAILED);
}

TEST_CASE("the lister reports for each test whether its suite has a host, hooks and a fixture", "[sdk]") {
  const distrun_plugin plugin = load_plugin();
  std::map<std::string, std::pair<bool, bool>> code;
  FakeList to;
  to.list.self = &code;
  to.list.add = [](void* self, const distrun_test* test) {
    auto& all = *static_cast<std::map<std::string, std::pair<bool, bool>>*>(self);
    all[text_of(test->suite)] = {test->has_host != 0, test->has_suite_code != 0 && test->has_fixture != 0};
  };
  REQUIRE(plugin.list(plugin.self, &to.list) == DISTRUN_OK);
  CHECK(code.at("Fleet") == std::pair(true, true));
  CHECK(code.at("Quiet") == std::pair(false, true));
  CHECK(code.at("Names") == std::pair(false, false));
}
