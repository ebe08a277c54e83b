#include <catch2/catch.hpp>
#include <stdexcept>
#include <thread>

#include <distrun/plugin/sdk/detail/failure.hpp>
#include <distrun/test.hpp>

#include "fake_line.hpp"

// Tests to run through the plugin's entry; they do not run as cases of this binary.
namespace {

std::vector<std::string> life;  // of the last fixture

class Life : public distrun::Fixture {
 public:
  Life() { life = {"made"}; }
  ~Life() override { life.emplace_back("gone"); }
  void set_up(distrun::Rank&) override { life.emplace_back("set up"); }
  void tear_down(distrun::Rank&) override { life.emplace_back("torn down"); }
};

class FailsToSetUp : public Life {
 public:
  void set_up(distrun::Rank&) override { DISTRUN_REQUIRE(1 == 2); }
};

class FailsToTearDown : public Life {
 public:
  void tear_down(distrun::Rank&) override { throw std::runtime_error("stuck"); }
};

class SkipsInTearDown : public Life {
 public:
  void tear_down(distrun::Rank&) override { distrun::skip("too late"); }
};

class SkipsInSetUp : public Life {
 public:
  void set_up(distrun::Rank&) override { distrun::skip_as("no_cuda"); }
};

class ThrowsWhenMade : public distrun::Fixture {
 public:
  ThrowsWhenMade() { throw std::logic_error("not made"); }
};

}  // namespace

DISTRUN_TEST(Run, passes) { DISTRUN_EXPECT(rank.rank() == 1); }
DISTRUN_TEST(Run, takes_parameters, .parameters = product(axis("n", {1, 2}))) {
  DISTRUN_EXPECT(rank.parameters().get<int>("n") == 2);
}
DISTRUN_TEST(Run, throws_error) {
  throw distrun::Error(distrun::ErrorKind::Failed, "KeyError", "no such key").while_doing("look up");
}
DISTRUN_TEST(Run, throws_std) { throw std::out_of_range("index 7"); }
DISTRUN_TEST(Run, throws_int) { throw 7; }
DISTRUN_TEST(Run, throws_nested) {
  try {
    throw distrun::PeerFailed("rank 3 died", 3);
  } catch (...) {
    std::throw_with_nested(std::runtime_error("cannot train"));
  }
}
DISTRUN_TEST(Run, throws_error_with_cause) {
  throw distrun::Error(distrun::ErrorKind::Disconnected, "worker2 is gone").with_cause(2);
}
DISTRUN_TEST(Run, skips) { distrun::skip("no luck"); }
DISTRUN_TEST(Run, skips_as_no_such) { distrun::skip_as("no_such"); }
DISTRUN_TEST(Run, skips_after_failed_check) {
  DISTRUN_EXPECT(1 == 2);
  distrun::skip("no luck");
}
DISTRUN_TEST(Run, waits_for_dead_peer) { rank.barrier("meet"); }
DISTRUN_TEST(Run, swallows_everything) {
  try {
    DISTRUN_REQUIRE(1 == 2);
  } catch (...) {
  }
}
DISTRUN_TEST(Run, throws_check_failed_itself) { throw distrun::CheckFailed{}; }

DISTRUN_TEST_F(Life, passes) { life.emplace_back("body"); }
DISTRUN_TEST_F(Life, fails) { DISTRUN_FAIL("on purpose"); }
DISTRUN_TEST_F(FailsToSetUp, body) { life.emplace_back("body"); }
DISTRUN_TEST_F(FailsToTearDown, body) {}
DISTRUN_TEST_F(FailsToTearDown, after_failed_body) { DISTRUN_FAIL("first"); }
DISTRUN_TEST_F(SkipsInTearDown, body) {}
DISTRUN_TEST_F(SkipsInSetUp, body) { life.emplace_back("body"); }
DISTRUN_TEST_F(ThrowsWhenMade, body) {}

namespace {

using distrun::sdk_test::FakeLine;
using Texts = std::vector<std::string>;

// Returns the error of a test that reports exactly one.
FakeLine::Error only_error(const std::string& test_id) {
  FakeLine line;
  CHECK(line.run(test_id) == DISTRUN_FAILED);
  REQUIRE(line.errors.size() == 1);
  return line.errors.front();
}

}  // namespace

TEST_CASE("a test that passes reports its phases and its checks and nothing else", "[sdk]") {
  FakeLine line;
  CHECK(line.run("Run.passes") == DISTRUN_OK);
  CHECK(line.said == Texts{"phase 4"});
  CHECK(line.checks == 1);
}

TEST_CASE("a test runs with the parameters of its id", "[sdk]") {
  FakeLine line;
  CHECK(line.run("Run.takes_parameters/n=2") == DISTRUN_OK);
  CHECK(line.run("Run.takes_parameters/n=1") == DISTRUN_FAILED);
}

TEST_CASE("an id that names no test is not found, and nothing is reported", "[sdk]") {
  for (const char* id : {"", "Run", "Run.", "Run.absent", ".passes", "Run.passes/n=1", "Run.takes_parameters",
                         "Run.takes_parameters/n=3", "Run.passes "}) {
    FakeLine line;
    CHECK(line.run(id) == DISTRUN_NOT_FOUND);
    CHECK(line.said.empty());
  }
}

TEST_CASE("a fixture lives from before set-up to after tear-down", "[sdk]") {
  FakeLine line;
  CHECK(line.run("Life.passes") == DISTRUN_OK);
  CHECK(life == Texts{"made", "set up", "body", "torn down", "gone"});
  CHECK(line.said == Texts{"phase 3", "phase 4", "phase 5"});
}

TEST_CASE("a fixture is torn down after a failed body", "[sdk]") {
  FakeLine line;
  CHECK(line.run("Life.fails") == DISTRUN_FAILED);
  CHECK(life == Texts{"made", "set up", "torn down", "gone"});
  CHECK(line.said == Texts{"phase 3", "phase 4", "error", "phase 5"});
}

TEST_CASE("after a failed set-up neither body nor tear-down runs", "[sdk]") {
  FakeLine line;
  CHECK(line.run("FailsToSetUp.body") == DISTRUN_FAILED);
  CHECK(life == Texts{"made", "gone"});
  CHECK(line.said == Texts{"phase 3", "error"});
  CHECK(line.errors.at(0).text == "in set-up: REQUIRE(1 == 2)\n  left: 1, right: 2");
}

TEST_CASE("a fixture that cannot be constructed fails in set-up", "[sdk]") {
  const auto error = only_error("ThrowsWhenMade.body");
  CHECK(error.type == "std::logic_error");
  CHECK(error.text == "in set-up: not made");
}

TEST_CASE("a failed tear-down fails the test, also after a failed body", "[sdk]") {
  CHECK(only_error("FailsToTearDown.body").text == "in tear-down: stuck");
  FakeLine line;
  CHECK(line.run("FailsToTearDown.after_failed_body") == DISTRUN_FAILED);
  REQUIRE(line.errors.size() == 2);
  CHECK(line.errors[0].text == "first");
  CHECK(line.errors[1].text == "in tear-down: stuck");
}

TEST_CASE("an Error is reported with its type, context and place", "[sdk]") {
  const auto error = only_error("Run.throws_error");
  CHECK(error.type == "KeyError");
  CHECK(error.text == "look up: no such key");
  CHECK_THAT(error.file, Catch::EndsWith("run_test.cpp"));
  CHECK(error.line > 0);
  CHECK(error.ends_body);
  CHECK(error.because_of == -1);
}

TEST_CASE("other exceptions are reported by their C++ type", "[sdk]") {
  const auto standard = only_error("Run.throws_std");
  CHECK(standard.type == "std::out_of_range");
  CHECK(standard.text == "index 7");
  CHECK(standard.ends_body);
  const auto number = only_error("Run.throws_int");
  CHECK(number.type == "int");
  CHECK(number.text == "an exception of type int");
}

TEST_CASE("a nested cause is reported, and the peer it names", "[sdk]") {
  const auto error = only_error("Run.throws_nested");
  CHECK_THAT(error.type, Catch::Contains("runtime_error"));
  CHECK(error.text == "cannot train\n  caused by PeerFailed: rank 3 died");
  CHECK(error.because_of == 3);
}

TEST_CASE("any error with the rank that it follows from names it", "[sdk]") {
  CHECK(only_error("Run.throws_error_with_cause").because_of == 2);
}

TEST_CASE("a failure that follows from a peer's names that peer", "[sdk]") {
  FakeLine line;
  line.answers.push_back({DISTRUN_PEER_FAILED, "rank 2 was killed by SIGSEGV", 2});
  CHECK(line.run("Run.waits_for_dead_peer") == DISTRUN_FAILED);
  REQUIRE(line.errors.size() == 1);
  CHECK(line.errors[0].type == "PeerFailed");
  CHECK(line.errors[0].text == "barrier 'meet': rank 2 was killed by SIGSEGV");
  CHECK_THAT(line.errors[0].file, Catch::EndsWith("run_test.cpp"));
  CHECK(line.errors[0].because_of == 2);
}

TEST_CASE("a skip is reported once, with its code", "[sdk]") {
  FakeLine line;
  CHECK(line.run("Run.skips") == DISTRUN_SKIPPED);
  CHECK(line.said == Texts{"phase 4", "skip 86 no luck"});
}

TEST_CASE("a skip in set-up ends the test there", "[sdk]") {
  FakeLine line;
  CHECK(line.run("SkipsInSetUp.body") == DISTRUN_SKIPPED);
  CHECK(life == Texts{"made", "gone"});
  CHECK(line.said == Texts{"phase 3", "skip 74 CUDA is not available."});
}

TEST_CASE("a skip by an unknown name is an error", "[sdk]") {
  CHECK(only_error("Run.skips_as_no_such").text == "the skip table has no entry 'no_such'");
}

TEST_CASE("a skip after a failed check is a failure", "[sdk]") {
  FakeLine line;
  CHECK(line.run("Run.skips_after_failed_check") == DISTRUN_FAILED);
  CHECK(line.said == Texts{"phase 4", "error", "error"});
  CHECK(line.errors.at(1).text == "skipped after a failed check: no luck");
}

TEST_CASE("a skip in tear-down is a failure", "[sdk]") {
  CHECK(only_error("SkipsInTearDown.body").text == "in tear-down: skip: too late");
}

TEST_CASE("a body that swallows a failed REQUIRE has still failed", "[sdk]") {
  CHECK(only_error("Run.swallows_everything").text == "REQUIRE(1 == 2)\n  left: 1, right: 2");
}

TEST_CASE("a body that throws CheckFailed itself has failed", "[sdk]") {
  FakeLine line;
  CHECK(line.run("Run.throws_check_failed_itself") == DISTRUN_FAILED);
}

TEST_CASE("an exception says where it was thrown, and a failed check, a skip and a failed peer know their place") {
  const auto pcs_of = [](const char* test) {
    FakeLine line;
    if (std::string(test) == "Run.waits_for_dead_peer") line.answers = {{DISTRUN_PEER_FAILED, "rank 3 died", 3}};
    line.run(test);
    return line.errors.empty() ? 0 : line.errors.front().pc_count;
  };
  CHECK(pcs_of("Run.throws_error") > 0);
  CHECK(pcs_of("Run.throws_std") > 0);
  CHECK(pcs_of("Run.throws_int") > 0);
  CHECK(pcs_of("Run.throws_nested") > 0);
  CHECK(pcs_of("Run.waits_for_dead_peer") == 0);
  CHECK(pcs_of("Run.skips_after_failed_check") == 0);
}

namespace {
struct Wordless : std::exception {
  const char* what() const noexcept override { return nullptr; }
};
}  // namespace

TEST_CASE("an exception with a null what() is reported with its type", "[sdk]") {
  distrun::detail::Failure failure;
  try {
    throw Wordless();
  } catch (...) {
    failure = distrun::detail::current_failure();
  }
  CHECK_THAT(failure.type, Catch::Contains("Wordless"));
  CHECK(failure.text == "its what() is null");
}

TEST_CASE("an error that came from another rank is reported once, with where it was thrown there", "[sdk]") {
  distrun::detail::Failure failure;
  try {
    distrun::Error error(distrun::ErrorKind::Failed, "ValueError", "a shape\nis wrong");
    error.with_remote_trace(
        "On worker2:\nValueError: a shape\nis wrong\n  thrown in far\nOn worker1:\nValueError: a shape\nis wrong\n"
        "  thrown in near");
    throw error;
  } catch (...) {
    failure = distrun::detail::current_failure();
  }
  CHECK(failure.type == "ValueError");
  CHECK(failure.text == "a shape\nis wrong\nOn worker2:\n  thrown in far\nOn worker1:\n  thrown in near");
}
