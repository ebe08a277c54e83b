#include <catch2/catch.hpp>
#include <stdexcept>

#include <distrun/test.hpp>

#include "fake_line.hpp"

namespace {

const distrun::Product& three() {
  static const distrun::Product product = distrun::product(distrun::axis("n", {1, 2, 3}));
  return product;
}

}  // namespace

DISTRUN_TEST(Subtests, second_fails) {
  run_subtests(rank, three(), [](const distrun::Parameters& element) { DISTRUN_REQUIRE(element.get<int>("n") != 2); });
}
DISTRUN_TEST(Subtests, second_throws) {
  run_subtests(rank, three(), [](const distrun::Parameters& element) {
    if (element.get<int>("n") == 2) throw std::runtime_error("odd");
  });
  DISTRUN_REQUIRE(rank.rank() == 7);
}
DISTRUN_TEST(Subtests, second_skips) {
  run_subtests(rank, three(), [](const distrun::Parameters& element) {
    if (element.get<int>("n") == 2) distrun::skip("not two");
  });
}
DISTRUN_TEST(Subtests, all_skip) {
  run_subtests(rank, three(), [](const distrun::Parameters&) { distrun::skip("none"); });
}
DISTRUN_TEST(Subtests, peer_fails) {
  run_subtests(rank, three(), [&](const distrun::Parameters&) { rank.receive(0, "tag"); });
}

namespace {
using distrun::sdk_test::FakeLine;
using Texts = std::vector<std::string>;
}  // namespace

TEST_CASE("ranks meet after each element", "[sdk]") {
  FakeLine line;
  CHECK(line.run("Subtests.second_fails") == DISTRUN_FAILED);
  CHECK(line.said ==
        Texts{"phase 4", "barrier subtest n=1 -1", "error", "barrier subtest n=2 -1", "barrier subtest n=3 -1"});
}

TEST_CASE("a failed element is named, and does not end the body", "[sdk]") {
  FakeLine line;
  CHECK(line.run("Subtests.second_fails") == DISTRUN_FAILED);
  REQUIRE(line.errors.size() == 1);
  CHECK(line.errors[0].text == "[n=2] REQUIRE(element.get<int>(\"n\") != 2)\n  left: 2, right: 2");
  CHECK_FALSE(line.errors[0].ends_body);
}

TEST_CASE("an element that throws fails like a check, and the body continues after the elements", "[sdk]") {
  FakeLine line;
  CHECK(line.run("Subtests.second_throws") == DISTRUN_FAILED);
  REQUIRE(line.errors.size() == 2);
  CHECK(line.errors[0].type == "std::runtime_error");
  CHECK(line.errors[0].text == "[n=2] odd");
  CHECK_FALSE(line.errors[0].ends_body);
  CHECK(line.errors[1].text == "REQUIRE(rank.rank() == 7)\n  left: 1, right: 7");
  CHECK(line.errors[1].ends_body);
}

TEST_CASE("an element that skips is noted", "[sdk]") {
  FakeLine line;
  CHECK(line.run("Subtests.second_skips") == DISTRUN_OK);
  CHECK(line.said == Texts{"phase 4", "barrier subtest n=1 -1", "note skipped [n=2]=not two", "barrier subtest n=2 -1",
                           "barrier subtest n=3 -1"});
}

TEST_CASE("a test is skipped if all its elements skip", "[sdk]") {
  FakeLine line;
  CHECK(line.run("Subtests.all_skip") == DISTRUN_SKIPPED);
  CHECK(line.said.back() == "skip 86 none");
}

TEST_CASE("a peer's failure ends the elements", "[sdk]") {
  FakeLine line;
  line.answers.push_back({DISTRUN_PEER_FAILED, "rank 0 failed", 0});
  CHECK(line.run("Subtests.peer_fails") == DISTRUN_FAILED);
  CHECK(line.said == Texts{"phase 4", "receive 0 tag -1", "error"});
  CHECK(line.errors.at(0).because_of == 0);
  CHECK(line.errors.at(0).ends_body);
}
