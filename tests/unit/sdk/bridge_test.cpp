#include <distrun/plugin/sdk/bridge.hpp>

#include <catch2/catch.hpp>
#include <stdexcept>

#include <distrun/plugin/sdk/detail/list.hpp>
#include <distrun/plugin/sdk/detail/names.hpp>
#include <distrun/plugin/sdk/detail/registry.hpp>
#include <distrun/plugin/sdk/detail/run.hpp>

#include "fake_line.hpp"

namespace {

using namespace distrun;
using namespace std::chrono_literals;

// Another framework: its tests record that they ran.
std::vector<std::string> ran;

detail::TestDeclaration bridged(const std::string& suite, const std::string& name, Parameters element,
                                std::function<void(Rank&)> run) {
  detail::TestDeclaration test;
  test.suite = suite;
  test.name = name;
  test.where = {"theirs.cpp", 7};
  test.options = [] { return TestOptions{}; };
  test.bridged = detail::BridgedTest{std::move(run), {}, std::move(element), "theirs: " + name};
  return test;
}

detail::TestDeclaration recording(const std::string& suite, const std::string& name, Parameters element = {}) {
  return bridged(suite, name, element, [name, element](Rank&) { ran.push_back(name + "/" + element.to_string()); });
}

Parameters element(int n) {
  std::vector<Parameters::Entry> entries;
  entries.emplace_back("n", std::to_string(n));
  return Parameters(std::move(entries));
}

detail::Registry registry_of(std::vector<detail::TestDeclaration> tests, const TestOptions& options = {}) {
  detail::Registry registry;
  registry.add(detail::TestFramework{[options] { return options; }, [tests] { return tests; }});
  registry.load_frameworks();
  return registry;
}

std::int32_t run(const detail::Registry& registry, const std::string& id, sdk_test::FakeLine& line) {
  return detail::run_test(registry, id, line.rank);
}

}  // namespace

TEST_CASE("different texts become different parts of an id", "[sdk]") {
  CHECK(detail::escape_name("plain_name") == "plain_name");
  CHECK(detail::escape_name("a b.c/d%") == "a%20b%2Ec%2Fd%25");
  CHECK(detail::escape_name("a,b=c") == "a,b=c");
  CHECK(detail::escape_name("\n\x7f") == "%0A%7F");
  CHECK(detail::escape_name("\xc3\xbc") == "\xc3\xbc");
  CHECK(detail::escape_value("a/b.c") == "a/b.c");
  CHECK(detail::escape_value("a, b") == "a%2C%20b");
  CHECK(detail::escape_title("two words.") == "two_words%2E");
  for (int byte = 1; byte < 256; ++byte) {
    const std::string text(1, static_cast<char>(byte));
    CHECK(detail::flaw_of_name(detail::escape_name(text)) == nullptr);
    CHECK(detail::flaw_of_value(detail::escape_value(text)) == nullptr);
  }
}

TEST_CASE("tests of a framework are listed with the framework's names", "[sdk]") {
  const auto registry = registry_of(
      {recording("Theirs", "plain"), recording("Theirs", "many", element(1)), recording("Theirs", "many", element(2))});
  sdk_test::FakeList to;
  REQUIRE(detail::list_tests(registry, to.list) == DISTRUN_OK);
  REQUIRE(to.tests.size() == 3);
  CHECK(to.tests[0].id == "Theirs.plain");
  CHECK(to.tests[0].description == "theirs: plain");
  CHECK(to.tests[1].id == "Theirs.many/n=1");
  CHECK(to.tests[2].id == "Theirs.many/n=2");
}

TEST_CASE("a bridged test is found by its element, and run by its framework", "[sdk]") {
  const auto registry = registry_of({recording("Theirs", "many", element(1)), recording("Theirs", "many", element(2))});
  ran.clear();
  sdk_test::FakeLine line;
  CHECK(run(registry, "Theirs.many/n=2", line) == DISTRUN_OK);
  CHECK(ran == std::vector<std::string>{"many/n=2"});
  CHECK(line.said == std::vector<std::string>{"phase 4"});
  CHECK(run(registry, "Theirs.many", line) == DISTRUN_NOT_FOUND);
  CHECK(run(registry, "Theirs.many/n=3", line) == DISTRUN_NOT_FOUND);
}

TEST_CASE("options of a suite win over the plugin's, and those of a test over both", "[sdk]") {
  detail::TestDeclaration own = recording("Theirs", "own");
  own.options = [] { return TestOptions{.timeout = 1s}; };
  auto registry = registry_of({own, recording("Theirs", "suite"), recording("Other", "plugin")},
                              {.world_size = fixed(2), .timeout = 3s});
  registry.add(detail::SuiteDeclaration{"Theirs", {}, [] { return TestOptions{.timeout = 2s}; }});
  CHECK(registry.options_of(registry.tests()[0]).timeout == 1s);
  CHECK(registry.options_of(registry.tests()[1]).timeout == 2s);
  CHECK(registry.options_of(registry.tests()[2]).timeout == 3s);
  CHECK(registry.options_of(registry.tests()[0]).world_size->sizes == std::vector<int>{2});
}

TEST_CASE("parameters of distrun are refused for bridged tests", "[sdk]") {
  const auto registry = registry_of({recording("Theirs", "plain")}, {.parameters = product(axis("n", {1, 2}))});
  sdk_test::FakeList to;
  CHECK(detail::list_tests(registry, to.list) == DISTRUN_INVALID);
  CHECK(to.failure ==
        "theirs.cpp:7: Theirs.plain: it has parameters from distrun although its framework also gives it some");
}

TEST_CASE("an exception of a bridged test is judged like one of a body", "[sdk]") {
  const auto registry = registry_of({bridged("Theirs", "throws", {}, [](Rank&) { throw std::runtime_error("no"); }),
                                     bridged("Theirs", "skips", {}, [](Rank&) { skip("no luck"); })});
  sdk_test::FakeLine line;
  CHECK(run(registry, "Theirs.throws", line) == DISTRUN_FAILED);
  CHECK(line.errors.at(0).type == "std::runtime_error");
  CHECK(run(registry, "Theirs.skips", line) == DISTRUN_SKIPPED);
}

TEST_CASE("an exception caught by a framework is distinguished from a skip and a failed check", "[sdk]") {
  const auto caught = [](auto&& thrown) {
    try {
      throw thrown;
    } catch (...) {
      return detail::caught_exception();
    }
  };
  CHECK(caught(Skip{.reason = "no luck"}).skip->reason == "no luck");
  CHECK(caught(std::out_of_range("index 7")).failure->type == "std::out_of_range");
  CHECK(caught(PeerFailed("gone", 3)).failure->because_of == 3);
  const detail::Caught check = caught(CheckFailed{});
  CHECK_FALSE(check.skip);
  CHECK_FALSE(check.failure);
}
