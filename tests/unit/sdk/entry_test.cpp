#include <catch2/catch.hpp>

#include <distrun/test.hpp>

#include "fake_line.hpp"

// User names equal to ours must not conflict, nor a namespace around the tests.
namespace user::deep {

struct Rank {};
inline int fixed(int n) { return n; }

class Device : public distrun::Fixture {
 protected:
  int answer_ = 42;
};

DISTRUN_SUITE(Device, .timeout = 7s);
DISTRUN_TEST_F(Device, answers) { DISTRUN_EXPECT(answer_ == 42); }
DISTRUN_TEST(Names, of_the_user, .world_size = distrun::fixed(3), .timeout = 500ms) {
  DISTRUN_EXPECT(fixed(rank.rank()) == 1);
}

}  // namespace user::deep

namespace {

using distrun::sdk_test::FakeLine;
using distrun::sdk_test::FakeList;
using distrun::sdk_test::lend;
using distrun::sdk_test::load_plugin;

const FakeList::Test* find(const FakeList& list, const std::string& id) {
  for (const FakeList::Test& test : list.tests) {
    if (test.id == id) return &test;
  }
  return nullptr;
}

}  // namespace

TEST_CASE("the entry fills in its functions for a host of its ABI", "[sdk]") {
  const distrun_plugin plugin = load_plugin();
  CHECK(plugin.abi == DISTRUN_ABI);
  CHECK(plugin.runtime == 0);
  CHECK(plugin.list != nullptr);
  CHECK(plugin.run != nullptr);
}

TEST_CASE("the entry refuses another ABI and names its own", "[sdk]") {
  const distrun_loader other{sizeof(distrun_loader), DISTRUN_ABI + 1};
  distrun_plugin plugin{};
  plugin.size = sizeof plugin;
  plugin.abi = DISTRUN_ABI + 1;
  CHECK(distrun_plugin_entry(&other, &plugin) == DISTRUN_INCOMPATIBLE);
  CHECK(plugin.abi == DISTRUN_ABI);
  CHECK(plugin.list == nullptr);
}

TEST_CASE("list and run refuse structs of another ABI", "[sdk]") {
  const distrun_plugin plugin = load_plugin();
  FakeList to;
  to.list.abi = DISTRUN_ABI + 1;
  CHECK(plugin.list(plugin.self, &to.list) == DISTRUN_INCOMPATIBLE);
  FakeLine line;
  line.rank.size = 8;
  CHECK(line.run("Names.of_the_user") == DISTRUN_INCOMPATIBLE);
}

TEST_CASE("tests declared by the macros are listed with their place and options", "[sdk]") {
  const distrun_plugin plugin = load_plugin();
  FakeList to;
  REQUIRE(plugin.list(plugin.self, &to.list) == DISTRUN_OK);
  CHECK(to.failure.empty());
  const auto* names = find(to, "Names.of_the_user");
  REQUIRE(names != nullptr);
  CHECK(names->world_size == 3);
  CHECK(names->world_rule == DISTRUN_WORLD_FIXED);
  CHECK(names->timeout_ms == 500);
  CHECK_FALSE(names->has_fixture);
  CHECK_THAT(names->file, Catch::EndsWith("entry_test.cpp"));
  const auto* device = find(to, "Device.answers");
  REQUIRE(device != nullptr);
  CHECK(device->timeout_ms == 7000);
  CHECK(device->has_fixture);
  CHECK(device->world_size == 4);
  CHECK(device->skip_reason.empty());
}

TEST_CASE("tests in a user's namespace run and use their fixture", "[sdk]") {
  FakeLine line;
  CHECK(line.run("Device.answers") == DISTRUN_OK);
  CHECK(line.run("Names.of_the_user") == DISTRUN_OK);
  CHECK(line.checks == 2);
}
