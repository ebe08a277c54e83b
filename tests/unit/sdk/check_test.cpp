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

DISTRUN_TEST(Check, messages) {
  int evaluated = 0;
  const auto count = [&] { return ++evaluated; };
  DISTRUN_EXPECT(1 == 1) << "never told " << count();
  DISTRUN_EXPECT(0.1 + 0.2 == 0.3) << "step " << count() << ", " << 0.1 + 0.2 << "\n" << true;
  if (rank.rank() == 7)
    DISTRUN_EXPECT(true) << "unseen";
  else
    DISTRUN_EXPECT(std::is_same_v<int, long>) << "types " << std::vector<int>{1, 2};
  DISTRUN_EXPECT_THROWS(std::exception, "", std::pair<int, int>(1, 2)) << "after " << 2;
  DISTRUN_REQUIRE(evaluated == 2) << "counted " << evaluated;
}
namespace {
void check_for(int number) {
  DISTRUN_INFO("number " << number);
  DISTRUN_EXPECT(number % 2 == 0) << "odd";
}
}  // namespace
DISTRUN_TEST(Check, infos) {
  DISTRUN_INFO("epoch " << 3);
  for (int i = 0; i < 2; ++i) check_for(i);
  DISTRUN_INFO(0.5);
  try {
    DISTRUN_INFO("caught");
    throw std::runtime_error("seen");
  } catch (const std::exception&) {
  }
  std::thread([] { DISTRUN_EXPECT(false); }).join();
  DISTRUN_FAIL("end");
}
DISTRUN_TEST(Check, info_of_an_exception) {
  DISTRUN_INFO("outer");
  try {
    DISTRUN_INFO("caught");
    throw std::runtime_error("seen");
  } catch (const std::exception&) {
  }
  DISTRUN_INFO("inner");
  (void)rank;
  throw std::runtime_error("lost");
}
DISTRUN_TEST(Check, kinds) {
  using distrun::Error;
  using distrun::ErrorKind;
  using distrun::ExpectedError;
  const auto late = [](int, int) { throw Error(ErrorKind::Timeout, "not within 2 s"); };
  DISTRUN_EXPECT_THROWS(Error, ErrorKind::Timeout, late(1, 2));
  DISTRUN_EXPECT_THROWS(std::exception, ExpectedError(ErrorKind::Timeout, "2 s"), late(1, 2));
  DISTRUN_EXPECT_THROWS(Error, ErrorKind::Cancelled, late(1, 2));
  DISTRUN_EXPECT_THROWS(Error, ExpectedError(ErrorKind::Cancelled, "3 s"), late(1, 2));
  DISTRUN_EXPECT_THROWS(std::exception, ErrorKind::Timeout, throw std::runtime_error("plain"));
}
DISTRUN_TEST(Check, closeness) {
  DISTRUN_EXPECT_CLOSE(1.0, 1.0005, 1e-3, 0);
  DISTRUN_EXPECT_CLOSE(std::vector<float>({1, 2}), std::vector<double>({1, 2.001}), 1e-3, 0.0);
  DISTRUN_EXPECT_CLOSE(0.5F, 0.75, 1e-3, 1e-6) << "loss";
  DISTRUN_EXPECT_CLOSE(std::vector<double>({1, 2, 3}), std::vector<double>({1, 2.5, 7}), 0, 0);
  DISTRUN_EXPECT_CLOSE(std::vector<int>({1}), std::vector<int>({1, 2}), 0, 0);
}

namespace {
using distrun::sdk_test::FakeLine;
}

TEST_CASE("every check that ran is counted, also those before a failure", "[sdk]") {
  FakeLine line;
  CHECK(line.run("Check.counts") == DISTRUN_FAILED);
  CHECK(line.checks == 1001);
}

TEST_CASE("a failed EXPECT is reported and the body continues", "[sdk]") {
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

TEST_CASE("a failed REQUIRE is reported and ends the body", "[sdk]") {
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

TEST_CASE("EXPECT_THROWS reports what happened instead", "[sdk]") {
  FakeLine line;
  CHECK(line.run("Check.throws") == DISTRUN_FAILED);
  REQUIRE(line.errors.size() == 4);
  CHECK(line.errors[0].text == "EXPECT_THROWS(std::invalid_argument, \"\", fine())\n  did not throw");
  CHECK_THAT(line.errors[1].text, Catch::EndsWith("\n  threw std::invalid_argument: \"no such rank\" "
                                                  "(expected a text with \"other\")"));
  CHECK_THAT(line.errors[2].text, Catch::EndsWith("\n  threw std::invalid_argument: \"no such rank\""));
  CHECK_THAT(line.errors[3].text, Catch::EndsWith("\n  threw int: \"an exception of type int\""));
  CHECK(line.checks == 6);
}

TEST_CASE("a check has its message, which is evaluated only if the check fails", "[sdk]") {
  FakeLine line;
  CHECK(line.run("Check.messages") == DISTRUN_FAILED);
  REQUIRE(line.errors.size() == 4);
  CHECK(line.errors[0].text ==
        "EXPECT(0.1 + 0.2 == 0.3)\n  left: 0.30000000000000004, right: 0.3\n  step 1, 0.30000000000000004\n  true");
  CHECK(line.errors[1].text == "EXPECT(std::is_same_v<int, long>)\n  false\n  types {1, 2}");
  CHECK_THAT(line.errors[2].text, Catch::EndsWith("\n  did not throw\n  after 2"));
  CHECK(line.errors[3].text == "REQUIRE(evaluated == 2)\n  left: 1, right: 2\n  counted 1");
  CHECK(line.errors[3].ends_body);
  CHECK(line.checks == 5);
}

TEST_CASE("failures have the DISTRUN_INFO of the enclosing scopes, on their thread", "[sdk]") {
  FakeLine line;
  CHECK(line.run("Check.infos") == DISTRUN_FAILED);
  REQUIRE(line.errors.size() == 3);
  CHECK(line.errors[0].text ==
        "EXPECT(number % 2 == 0)\n  left: 1, right: 0\n  odd\n  info: epoch 3\n  info: number 1");
  CHECK(line.errors[1].text == "EXPECT(false)\n  false");
  CHECK(line.errors[2].text == "end\n  info: epoch 3\n  info: 0.5");
}

TEST_CASE("an exception that ends the body has the info of the scopes that it has left", "[sdk]") {
  FakeLine line;
  CHECK(line.run("Check.info_of_an_exception") == DISTRUN_FAILED);
  CHECK(line.errors.at(0).text == "lost\n  info: outer\n  info: inner");
}

TEST_CASE("EXPECT_THROWS checks the kind of an error, too", "[sdk]") {
  FakeLine line;
  CHECK(line.run("Check.kinds") == DISTRUN_FAILED);
  REQUIRE(line.errors.size() == 3);
  CHECK_THAT(line.errors[0].text,
             Catch::EndsWith("\n  threw RuntimeError: \"not within 2 s\" (its kind is timeout, expected cancelled)"));
  CHECK_THAT(line.errors[1].text, Catch::EndsWith("(its kind is timeout, expected cancelled; expected a text with "
                                                  "\"3 s\")"));
  CHECK_THAT(line.errors[2].text, Catch::EndsWith("\"plain\" (its kind is missing, expected timeout)"));
}

TEST_CASE("EXPECT_CLOSE reports by how much numbers differ, and for ranges the worst with their indices", "[sdk]") {
  FakeLine line;
  CHECK(line.run("Check.closeness") == DISTRUN_FAILED);
  REQUIRE(line.errors.size() == 3);
  CHECK(line.errors[0].text ==
        "EXPECT_CLOSE(0.5F, 0.75, 1e-3, 1e-6)\n  left: 0.5, right: 0.75\n"
        "  they differ by 0.25, more than 1e-06 + 0.001 |right|\n  loss");
  CHECK_THAT(line.errors[1].text, Catch::EndsWith("\n  2 of 3 elements differ by more than 0 + 0 |expected|:\n"
                                                  "    [2]: 3, expected 7 (differs by 4)\n"
                                                  "    [1]: 2, expected 2.5 (differs by 0.5)"));
  CHECK_THAT(line.errors[2].text, Catch::EndsWith("\n  1 elements, expected 2"));
}

TEST_CASE("EXPECT_THROWS passes a failed REQUIRE on", "[sdk]") {
  FakeLine line;
  CHECK(line.run("Check.throws_within_throws") == DISTRUN_FAILED);
  CHECK(line.said == std::vector<std::string>{"phase 4", "error"});
}

TEST_CASE("EXPECT_THROWS passes a peer's failure on unless it is the expected one", "[sdk]") {
  const FakeLine::Answer gone{DISTRUN_PEER_FAILED, "rank 0 is gone", 0};
  FakeLine line;
  line.answers.push_back(gone);
  CHECK(line.run("Check.peer_fails_within_throws") == DISTRUN_FAILED);
  CHECK(line.errors.at(0).because_of == 0);
  FakeLine expecting;
  expecting.answers.push_back(gone);
  CHECK(expecting.run("Check.peer_failure_expected") == DISTRUN_OK);
}

TEST_CASE("checks take operands of every type, and results of other checks", "[sdk]") {
  FakeLine line;
  CHECK(line.run("Check.unusual_operands") == DISTRUN_OK);
  CHECK(line.run("Check.within_a_check") == DISTRUN_OK);
}

TEST_CASE("outside a test a check that holds does nothing, and one that fails throws", "[sdk]") {
  DISTRUN_EXPECT(1 == 1);
  CHECK_THROWS_WITH([] { DISTRUN_EXPECT(1 == 2); }(),
                    "check failed outside a test: EXPECT(1 == 2)\n  left: 1, right: 2\n  bind the thread to a rank "
                    "first: distrun::RankBinding bound(rank);");
}
