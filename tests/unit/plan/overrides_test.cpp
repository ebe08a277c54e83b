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
  ring.tags = {"slow"};
  ring.locks = {"port 8000"};
  const wire::TestInfo test = test_named("Ring", "pass");
  SECTION("a tag that one gives selects the test for the next") {
    const Override changes = Overrides({ring, slow}).changes_of(kPlugin, test);
    CHECK(changes.timeout == 90s);
    CHECK(changes.retries == 2);
    CHECK(changes.tags == std::vector<std::string>{"slow"});
    CHECK(changes.locks == std::vector<std::string>{"port 8000"});
  }
  SECTION("but not for one before") {
    const Override changes = Overrides({slow, ring}).changes_of(kPlugin, test);
    CHECK(changes.timeout == 0s);
    CHECK(changes.retries == -1);
    CHECK(changes.tags == std::vector<std::string>{"slow"});
  }
  const Override none = Overrides({ring, slow}).changes_of(kPlugin, test_named("Other", "pass"));
  CHECK(none.timeout == 0s);
  CHECK(none.retries == -1);
  CHECK(none.tags.empty());
}

TEST_CASE("of several overrides of one setting the last wins, and tags add up") {
  Override first = override_of("*");
  first.timeout = 10s;
  first.world_size = 2;
  first.tags = {"a"};
  Override second = override_of("Ring.*");
  second.timeout = 1us;
  second.world_size = 8;
  second.tags = {"b"};
  const Override changes = Overrides({first, second}).changes_of(kPlugin, test_named("Ring", "pass"));
  CHECK(changes.timeout == 1us);
  CHECK(changes.world_size == 8);
  CHECK(changes.tags == std::vector<std::string>{"a", "b"});
  CHECK(Overrides({first, second}).changes_of(kPlugin, test_named("Other", "pass")).world_size == 2);
  CHECK(Overrides({}).changes_of(kPlugin, test_named("Ring", "pass")).world_size == 0);
}
