#include <distrun/plugin/sdk/detail/registry.hpp>

#include <catch2/catch.hpp>
#include <stdexcept>

#include <distrun/plugin/sdk/detail/list.hpp>

#include "fake_line.hpp"

namespace {

using namespace distrun;
using namespace std::chrono_literals;
using detail::merged;
using detail::Registry;

void declare(
    Registry& registry, const std::string& suite, const std::string& name,
    std::function<TestOptions()> options = [] { return TestOptions{}; }) {
  registry.add(detail::TestDeclaration{suite, name, {"ring.cpp", 7}, std::move(options), false, {}});
}

void declare_suite(Registry& registry, const std::string& suite, const TestOptions& options = {}) {
  registry.add(detail::SuiteDeclaration{suite, {"ring.cpp", 3}, [options] { return options; }});
}

// Returns the error of list() for a registry; no test may be added then.
std::string complaint(const Registry& registry) {
  sdk_test::FakeList to;
  const std::int32_t code = detail::list_tests(registry, to.list);
  CHECK(code == DISTRUN_INVALID);
  CHECK(to.tests.empty());
  return to.failure;
}

std::string complaint(const TestOptions& options) {
  Registry registry;
  declare(registry, "Ring", "good");
  declare(registry, "Ring", "starts", [options] { return options; });
  return complaint(registry);
}

}  // namespace

TEST_CASE("tests are listed in order of declaration, one for each element", "[sdk]") {
  Registry registry;
  declare(registry, "Zebra", "first");
  declare(registry, "Ant", "second", [] { return TestOptions{.parameters = product(axis("n", {2, 1}))}; });
  sdk_test::FakeList to;
  REQUIRE(detail::list_tests(registry, to.list) == DISTRUN_OK);
  REQUIRE(to.tests.size() == 3);
  CHECK(to.tests[0].id == "Zebra.first");
  CHECK(to.tests[1].id == "Ant.second/n=2");
  CHECK(to.tests[2].id == "Ant.second/n=1");
}

TEST_CASE("a suite's options apply to its tests whichever is declared first", "[sdk]") {
  Registry registry;
  declare(registry, "Ring", "before");
  declare_suite(registry, "Ring", {.timeout = 5s});
  declare(registry, "Ring", "after");
  declare(registry, "Other", "none");
  CHECK(registry.options_of(registry.tests()[0]).timeout == 5s);
  CHECK(registry.options_of(registry.tests()[1]).timeout == 5s);
  CHECK(registry.options_of(registry.tests()[2]).timeout == 0s);
}

TEST_CASE("a test's own options win over its suite's", "[sdk]") {
  const TestOptions suite{
      .world_size = fixed(2), .timeout = 5s, .isolation = Isolation::Exec, .parameters = product(axis("a", {1}))};
  const TestOptions own{
      .world_size = fixed(3), .timeout = 1s, .isolation = Isolation::Process, .parameters = product(axis("b", {1}))};
  CHECK(merged(suite, {}).timeout == 5s);
  const TestOptions both = merged(suite, own);
  CHECK(both.world_size->sizes == std::vector<int>{3});
  CHECK(both.timeout == 1s);
  CHECK(both.isolation == Isolation::Process);
  CHECK(both.parameters.elements().front().to_string() == "b=1");
}

TEST_CASE("requirements of suite and test apply together", "[sdk]") {
  const TestOptions suite{.backends = {"gloo", "shm"}, .devices = 2, .may_die = {dies(0)}};
  const TestOptions both =
      merged(suite, {.backends = {"shm", "nccl"}, .devices = 1, .env_rendezvous = true, .may_die = {dies(1)}});
  CHECK(both.backends == std::vector<std::string>{"shm"});
  CHECK(both.devices == 2);
  CHECK(both.env_rendezvous);
  CHECK_FALSE(both.needs_mpi);
  CHECK(merged({.needs_mpi = true}, {}).needs_mpi);
  CHECK(both.may_die.size() == 2);
  const TestOptions labelled = merged({.tags = {"a"}, .locks = {"x"}}, {.tags = {"b"}, .locks = {"x", "y"}});
  CHECK(labelled.tags == std::vector<std::string>{"a", "b"});
  CHECK(labelled.locks == std::vector<std::string>{"x", "x", "y"});
  CHECK_THROWS_WITH(merged(suite, {.backends = {"nccl"}}), "no backend suits both suite and test");
}

TEST_CASE("a row has all requirements of a test", "[sdk]") {
  Registry registry;
  declare(registry, "Ring", "starts", [] {
    return TestOptions{.world_size = any_of({2, 3}),
                       .timeout = 1500ms,
                       .isolation = Isolation::Exec,
                       .env_rendezvous = true,
                       .needs_mpi = true,
                       .may_die = {dies_by_signal(1, 9), exits_with(-1, 7)},
                       .tags = {"slow"},
                       .locks = {"port 8000", "disk"}};
  });
  sdk_test::FakeList to;
  REQUIRE(detail::list_tests(registry, to.list) == DISTRUN_OK);
  const auto& row = to.tests.at(0);
  CHECK(row.file == "ring.cpp");
  CHECK(row.line == 7);
  CHECK(row.world_rule == DISTRUN_WORLD_ANY_OF);
  CHECK(row.world_sizes == std::vector<int>{2, 3});
  CHECK(row.world_size == 0);
  CHECK(row.skip_code == 86);
  CHECK(row.skip_reason == "needs a world size of 2 or 3; this run has 4");
  CHECK(row.timeout_ms == 1500);
  CHECK(row.isolation == "exec");
  CHECK(row.env_rendezvous);
  CHECK(row.needs_mpi);
  REQUIRE(row.may_die.size() == 2);
  CHECK(row.may_die[0].how == DISTRUN_DEATH_SIGNAL);
  CHECK(row.may_die[1].rank == -1);
  CHECK(row.may_die[1].value == 7);
  CHECK(row.tags == std::vector<std::string>{"slow"});
  CHECK(row.locks == std::vector<std::string>{"port 8000", "disk"});
}

TEST_CASE("names with characters that an id cannot have are refused", "[sdk]") {
  const std::vector<std::pair<std::string, std::string>> names{{"", "is empty"},
                                                               {"a.b", "has a '.' or '/'"},
                                                               {"a/b", "has a '.' or '/'"},
                                                               {"a b", "has a space or control character"},
                                                               {"a\n", "has a space or control character"}};
  for (const auto& [name, flaw] : names) {
    Registry tests;
    declare(tests, "Ring", name);
    CHECK(complaint(tests) == "ring.cpp:7: Ring." + name + ": the test's name '" + name + "' " + flaw);
    Registry suites;
    declare(suites, name, "starts");
    CHECK(complaint(suites) == "ring.cpp:7: " + name + ".starts: the suite's name '" + name + "' " + flaw);
  }
}

TEST_CASE("a duplicate declaration is refused with both places", "[sdk]") {
  Registry registry;
  declare(registry, "Ring", "starts");
  declare_suite(registry, "Ring");
  declare(registry, "Ring", "starts");
  declare_suite(registry, "Ring");
  CHECK(complaint(registry) ==
        "ring.cpp:7: Ring.starts: is declared twice, first at ring.cpp:7\n"
        "ring.cpp:3: suite Ring: is declared twice, first at ring.cpp:3");
}

TEST_CASE("a suite without tests is refused, as its options would be lost", "[sdk]") {
  Registry registry;
  declare(registry, "Ring", "starts");
  declare_suite(registry, "Rong");
  CHECK(complaint(registry) == "ring.cpp:3: suite Rong: has no tests");
}

TEST_CASE("options out of range are refused", "[sdk]") {
  const std::string start = "ring.cpp:7: Ring.starts: ";
  CHECK(complaint({.world_size = fixed(0)}) == start + "a world size of 0, but at least 1 rank is required");
  CHECK(complaint({.world_size = any_of({2, -1})}) == start + "a world size of -1, but at least 1 rank is required");
  CHECK(complaint({.world_size = any_of({})}) == start + "any_of() has no world size");
  CHECK(complaint({.timeout = -1s}) == start + "its timeout is negative");
  CHECK(complaint({.devices = -1}) == start + "its number of devices is negative");
  CHECK(complaint({.may_die = {dies(-2)}}) == start + "may_die has the invalid rank -2");
  CHECK(complaint({.may_die = {dies_by_signal(0, 65)}}) == start + "may_die has the invalid signal 65");
  CHECK(complaint({.may_die = {exits_with(0, 256)}}) == start + "may_die has the invalid exit code 256");
  CHECK(complaint({.tags = {"very slow"}}) == start + "it has the invalid tag 'very slow'");
  CHECK(complaint({.tags = {""}}) == start + "it has the invalid tag ''");
  CHECK_THAT(complaint({.locks = {"a\nb"}}), Catch::StartsWith(start + "it has the invalid lock"));
  CHECK(complaint({.tags = std::vector<std::string>(65, "t")}) == start + "it has 65 tags, the limit is 64");
  CHECK(complaint({.parameters = product(Axis{"n", {}})}) == start + "its options: ValueError: axis 'n' has no values");
}

TEST_CASE("options that throw become a finding, and every finding is reported", "[sdk]") {
  Registry registry;
  declare(registry, "Ring", "throws", []() -> TestOptions { throw std::runtime_error("no config"); });
  declare(registry, "Ring", "bad", [] { return TestOptions{.world_size = fixed(0)}; });
  CHECK(complaint(registry) ==
        "ring.cpp:7: Ring.throws: its options: std::runtime_error: no config\nring.cpp:7: Ring.bad: a world size of 0, "
        "but at least 1 rank is required");
}
