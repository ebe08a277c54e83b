#include <catch2/catch.hpp>
#include <memory>
#include <stdexcept>
#include <thread>

#include <distrun/test.hpp>

#include "fake_line.hpp"

#define MACRO_IN_EXPRESSION 3

DISTRUN_TEST(Check, counts) {
  for (int i = 0; i < 1000; ++i) DISTRUN_EXPECT(i >= 0);
  DISTRUN_REQUIRE(rank.rank() == MACRO_IN_EXPRESSION);
  DISTRUN_EXPECT(true);
}
DISTRUN_TEST(Check, goes_on) {
  DISTRUN_EXPECT(rank.rank() == MACRO_IN_EXPRESSION);
  DISTRUN_EXPECT(std::string("a") == "b");
  rank.note("reached", "end");
}
DISTRUN_TEST(Check, fails_often) {
  for (int i = 0; i < 250; ++i) DISTRUN_EXPECT(i < 0);
  DISTRUN_REQUIRE(rank.rank() == 7);
}
DISTRUN_TEST(Check, survives_catch_of_std_exception) {
  try {
    DISTRUN_REQUIRE(rank.rank() == 7);
  } catch (const std::exception&) {
    rank.note("swallowed", "yes");
  }
}
DISTRUN_TEST(Check, on_threads) {
  std::thread([] { DISTRUN_EXPECT(1 == 2); }).join();
  std::thread([] {
    try {
      DISTRUN_REQUIRE(3 == 4);
    } catch (const distrun::CheckFailed&) {
    }
  }).join();
}
DISTRUN_TEST(Check, throws) {
  const auto fine = [] {};
  const auto refuse = [] { throw std::invalid_argument("no such rank"); };
  DISTRUN_EXPECT_THROWS(std::invalid_argument, "such", refuse());
  DISTRUN_EXPECT_THROWS(std::exception, "", refuse());
  DISTRUN_EXPECT_THROWS(std::invalid_argument, "", fine());
  DISTRUN_EXPECT_THROWS(std::invalid_argument, "other", refuse());
  DISTRUN_EXPECT_THROWS(std::bad_alloc, "", refuse());
  DISTRUN_EXPECT_THROWS(std::exception, "", throw 7);
}
DISTRUN_TEST(Check, throws_within_throws) {
  DISTRUN_EXPECT_THROWS(std::exception, "", DISTRUN_REQUIRE(1 == 2));
  rank.note("reached", "end");
}
DISTRUN_TEST(Check, peer_fails_within_throws) { DISTRUN_EXPECT_THROWS(std::out_of_range, "", rank.barrier()); }
DISTRUN_TEST(Check, peer_failure_expected) { DISTRUN_EXPECT_THROWS(distrun::PeerFailed, "gone", rank.barrier()); }
DISTRUN_TEST(Check, within_a_check) {
  DISTRUN_EXPECT([] {
    DISTRUN_EXPECT(1 == 1);
    return true;
  }());
}
DISTRUN_TEST(Check, unusual_operands) {
  const std::unique_ptr<int> owner = std::make_unique<int>(1);
  DISTRUN_REQUIRE(owner);
  DISTRUN_EXPECT(owner != nullptr);
  DISTRUN_EXPECT((std::pair<int, int>(1, 2) == std::pair<int, int>(1, 2)));
  DISTRUN_EXPECT(std::pair<int, int>(1, 2).first == 1);
  struct Bits {
    unsigned low : 3;
  } bits{5};
  DISTRUN_EXPECT(bits.low == 5U);
  if (rank.rank() == 1)
    DISTRUN_EXPECT(true);
  else
    DISTRUN_EXPECT(false);
}

namespace {
using distrun::sdk_test::FakeLine;
}

TEST_CASE("every check that ran is counted, those before a failure too", "[sdk]") {
  FakeLine line;
  CHECK(line.run("Check.counts") == DISTRUN_FAILED);
  CHECK(line.checks == 1001);
}

TEST_CASE("a failed EXPECT reports and the body goes on", "[sdk]") {
  FakeLine line;
  CHECK(line.run("Check.goes_on") == DISTRUN_FAILED);
  REQUIRE(line.errors.size() == 2);
  CHECK(line.errors[0].type == "CheckFailed");
  CHECK(line.errors[0].text == "EXPECT(rank.rank() == MACRO_IN_EXPRESSION)\n  left: 1, right: 3");
  CHECK(line.errors[1].text == "EXPECT(std::string(\"a\") == \"b\")\n  left: \"a\", right: \"b\"");
  CHECK_FALSE(line.errors[0].ends_body);
  CHECK_THAT(line.errors[0].file, Catch::EndsWith("check_test.cpp"));
  CHECK(line.said.back() == "note reached=end");
}

TEST_CASE("a failed REQUIRE ends the body in its report", "[sdk]") {
  FakeLine line;
  CHECK(line.run("Check.counts") == DISTRUN_FAILED);
  REQUIRE(line.errors.size() == 1);
  CHECK(line.errors[0].ends_body);
}

TEST_CASE("a hundred failed EXPECTs are sent, and the rest in one sentence", "[sdk]") {
  FakeLine line;
  CHECK(line.run("Check.fails_often") == DISTRUN_FAILED);
  REQUIRE(line.errors.size() == 102);  // and the REQUIRE, which is always sent
  CHECK(line.errors[100].text == "REQUIRE(rank.rank() == 7)\n  left: 1, right: 7");
  CHECK(line.errors[101].text == "150 more checks failed on this rank; only the first 100 are reported one by one");
  CHECK_FALSE(line.errors[101].ends_body);
  CHECK(line.checks == 251);
}

TEST_CASE("catching std::exception does not swallow a failed REQUIRE", "[sdk]") {
  FakeLine line;
  CHECK(line.run("Check.survives_catch_of_std_exception") == DISTRUN_FAILED);
  CHECK(line.said == std::vector<std::string>{"phase 4", "error"});
}

TEST_CASE("checks on helper threads count for the rank", "[sdk]") {
  FakeLine line;
  CHECK(line.run("Check.on_threads") == DISTRUN_FAILED);
  CHECK(line.errors.size() == 2);
  CHECK(line.checks == 2);
}

TEST_CASE("EXPECT_THROWS says what happened instead", "[sdk]") {
  FakeLine line;
  CHECK(line.run("Check.throws") == DISTRUN_FAILED);
  REQUIRE(line.errors.size() == 4);
  CHECK(line.errors[0].text == "EXPECT_THROWS(std::invalid_argument, \"\", fine())\n  did not throw");
  CHECK_THAT(line.errors[1].text, Catch::EndsWith("\n  threw std::invalid_argument: \"no such rank\""));
  CHECK_THAT(line.errors[2].text, Catch::EndsWith("\n  threw std::invalid_argument: \"no such rank\""));
  CHECK_THAT(line.errors[3].text, Catch::EndsWith("\n  threw int: \"an exception of type int\""));
  CHECK(line.checks == 6);
}

TEST_CASE("EXPECT_THROWS lets a failed REQUIRE through", "[sdk]") {
  FakeLine line;
  CHECK(line.run("Check.throws_within_throws") == DISTRUN_FAILED);
  CHECK(line.said == std::vector<std::string>{"phase 4", "error"});
}

TEST_CASE("EXPECT_THROWS lets a peer's failure through unless it is what is expected", "[sdk]") {
  const FakeLine::Answer gone{DISTRUN_PEER_FAILED, "rank 0 is gone", 0};
  FakeLine line;
  line.answers.push_back(gone);
  CHECK(line.run("Check.peer_fails_within_throws") == DISTRUN_FAILED);
  CHECK(line.errors.at(0).because_of == 0);
  FakeLine expecting;
  expecting.answers.push_back(gone);
  CHECK(expecting.run("Check.peer_failure_expected") == DISTRUN_OK);
}

TEST_CASE("checks take operands of every kind, and each other", "[sdk]") {
  FakeLine line;
  CHECK(line.run("Check.unusual_operands") == DISTRUN_OK);
  CHECK(line.run("Check.within_a_check") == DISTRUN_OK);
}

TEST_CASE("outside a test a check that holds is nothing, and one that fails throws", "[sdk]") {
  DISTRUN_EXPECT(1 == 1);
  CHECK_THROWS_WITH([] { DISTRUN_EXPECT(1 == 2); }(),
                    "check failed outside a test: EXPECT(1 == 2)\n  left: 1, right: 2\n"
                    "  a thread works for a rank once it is bound to it: distrun::RankBinding bound(rank);");
}
