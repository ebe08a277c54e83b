#include <distrun/runner/plan/overrides.hpp>

#include <catch2/catch.hpp>

using namespace distrun;
using namespace distrun::runner;
using namespace std::chrono_literals;

namespace {

constexpr char kPlugin[] = "build/ring.so";

wire::TestInfo test_named(const std::string& suite, const std::string& name) {
  wire::TestInfo test;
  test.suite = suite;
  test.name = name;
  test.world_size = 4;
  return test;
}

Override override_of(const std::string& filter) {
  Override changes;
  changes.filter = filter;
  return changes;
}

}  // namespace

TEST_CASE("overrides change the tests that their filters select") {
  Override slow = override_of("tag:slow");
  slow.timeout = 90s;
  slow.retries = 2;
  Override ring = override_of("suite:Ring");
  ring.tags = {"slow", "ring"};
  ring.locks = {"port 8000"};
  wire::TestInfo test = test_named("Ring", "pass");
  test.tags = {"ring"};
  wire::TestInfo other = test_named("Other", "pass");
  other.timeout_ms = 5;
  SECTION("a tag that one gives selects the test for the next") {
    const Overrides overrides({ring, slow});
    CHECK(overrides.apply_to(kPlugin, test) == 2);
    CHECK(test.timeout_ms == 90'000);
    CHECK(overrides.apply_to(kPlugin, other) == -1);
  }
  SECTION("but not for one before") {
    const Overrides overrides({slow, ring});
    CHECK(overrides.apply_to(kPlugin, test) == -1);
    CHECK(test.timeout_ms == 0);
    CHECK(overrides.apply_to(kPlugin, other) == -1);
  }
  CHECK(test.tags == std::vector<std::string>{"ring", "slow"});
  CHECK(test.locks == std::vector<std::string>{"port 8000"});
  CHECK(other.timeout_ms == 5);
  CHECK(other.tags.empty());
}

TEST_CASE("of several overrides of one setting the last wins") {
  Override first = override_of("*");
  first.timeout = 10s;
  first.world_size = 2;
  Override second = override_of("Ring.*");
  second.timeout = 1us;
  second.world_size = 8;
  const Overrides overrides({first, second});
  wire::TestInfo test = test_named("Ring", "pass");
  CHECK(overrides.apply_to(kPlugin, test) == -1);
  CHECK(test.timeout_ms == 1);  // never zero, which is none
  CHECK(overrides.world_size_of(kPlugin, test) == 8);
  CHECK(overrides.world_size_of(kPlugin, test_named("Other", "pass")) == 2);
  CHECK(Overrides({}).world_size_of(kPlugin, test) == 0);
}
