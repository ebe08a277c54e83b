// Requests to NCCL's RAS and its answers. nccl_group_test.cpp covers their use by the watchdog.
#include <catch2/catch.hpp>

#include <chrono>

#include <distrun/common/base/free_port.hpp>
#include <distrun/runtime/collectives/nccl/ras.hpp>
#include <distrun/runtime/collectives/nccl/ras_text.hpp>

#include "fake_ras.hpp"

namespace distrun::collectives {
namespace {

using namespace std::chrono_literals;
using testing::FakeRas;
using testing::ras_answers;
using testing::ras_communicator;
using testing::ras_missing;
using testing::ras_rank;
using testing::ras_report;

constexpr base::Nanoseconds kPlenty = 30s;

// A group of `ranks`, in the runner's numbering, as seen from the group rank `place`.
GroupInfo told_group(const std::vector<int>& ranks, int place = 0) {
  GroupInfo group;
  group.name = "told";
  group.ranks = ranks;
  group.rank = place;
  return group;
}

RasReport asked(const std::string& report) {
  const FakeRas ras(ras_answers(report));
  std::string why_none;
  const auto got = ask_ras(ras.address(), kPlenty, why_none);
  INFO(why_none);
  REQUIRE(got);
  return *got;
}

std::string told(const std::string& report, const GroupInfo& group) {
  return ras_text(asked(report), group, ::getpid());
}

// Returns why there is no report.
std::string refused(const FakeRas& ras, base::Nanoseconds limit = kPlenty) {
  std::string why_none;
  CHECK_FALSE(ask_ras(ras.address(), limit, why_none));
  return why_none;
}

std::string refused_report(const std::string& report) { return refused(FakeRas(ras_answers(report))); }

TEST_CASE("a RAS is asked for a report in JSON, and its report is parsed", "[nccl][ras]") {
  const FakeRas ras(ras_answers(ras_report({ras_communicator(2, {ras_rank(0, 7, 6)}, {ras_missing(1, true, false)})})));
  std::string why_none;
  const auto report = ask_ras(ras.address(), kPlenty, why_none);
  REQUIRE(report);
  CHECK(ras.asked() == std::vector<std::string>{"CLIENT PROTOCOL 2", "TIMEOUT 15.000", "SET FORMAT json", "STATUS"});
  CHECK(report->nccl_version == "2.28.9");
  REQUIRE(report->communicators.size() == 1);
  const RasCommunicator& communicator = report->communicators.front();
  CHECK(communicator.hash == "0x1f");
  CHECK(communicator.size == 2);
  REQUIRE(communicator.ranks.size() == 1);
  CHECK(communicator.ranks[0].process == ::getpid());
  CHECK(communicator.ranks[0].error == 6);
  CHECK(communicator.ranks[0].calls.at("AllReduce") == 7);
  REQUIRE(communicator.missing.size() == 1);
  CHECK(communicator.missing[0].place == 1);
  CHECK(communicator.missing[0].host == "10.0.0.2");
  CHECK(communicator.missing[0].is_silent);
  CHECK_FALSE(communicator.missing[0].is_dead);
}

TEST_CASE("a RAS that finds no problem says OK of all ranks", "[nccl][ras]") {
  const std::string report = ras_report({ras_communicator(3, {ras_rank(0, 7), ras_rank(1, 7), ras_rank(2, 7)})});
  CHECK(told(report, told_group({0, 1, 2})) == "NCCL's RAS reports OK for all 3 ranks");
  const std::string alone = ras_report({ras_communicator(1, {ras_rank(0, 7)})});
  CHECK(told(alone, told_group({0})) == "NCCL's RAS reports OK for the only rank");
}

TEST_CASE("a rank that has begun fewer collectives is named, as the runner counts it", "[nccl][ras]") {
  const std::string report = ras_report({ras_communicator(3, {ras_rank(0, 7), ras_rank(1, 6), ras_rank(2, 7)})});
  CHECK(told(report, told_group({2, 5, 6})) ==
        "NCCL's RAS reports OK for all 3 ranks, though rank 5 has not arrived (AllReduce: 6 of 7)");
}

TEST_CASE("ranks that a RAS misses are named, with the known state of their process", "[nccl][ras]") {
  const auto without_rank_1 = [](const std::string& missing) {
    return told(ras_report({ras_communicator(2, {ras_rank(0, 7)}, {missing})}), told_group({0, 1}));
  };
  const std::string start = "NCCL's RAS reports: rank 1 is missing (process 4711 on 10.0.0.2 ";
  CHECK(without_rank_1(ras_missing(1, true, true)) == start + "is dead)");
  CHECK(without_rank_1(ras_missing(1, true, false)) == start + "does not answer)");
  CHECK(without_rank_1(ras_missing(1, false, false)) == start + "no longer has the communicator)");
}

TEST_CASE("errors of ranks are reported, and the ranks that are late", "[nccl][ras]") {
  const std::string report =
      ras_report({ras_communicator(5, {ras_rank(0, 7), ras_rank(1, 7, 2), ras_rank(2, 7, 99), ras_rank(3, 6, 7, 7)})});
  CHECK(told(report, told_group({0, 1, 2, 3, 4})) ==
        "NCCL's RAS reports: rank 1 has an error (system error), rank 2 has an error (error 99), rank 3 has not begun "
        "yet, rank 4 is not in its report, rank 3 has not arrived (AllReduce: 6 of 7)");
}

TEST_CASE("some of many ranks are named and the others counted", "[nccl][ras]") {
  std::vector<std::string> missing;
  std::vector<int> ranks = {0};
  for (int place = 1; place <= 12; ++place) {
    missing.push_back(ras_missing(place, true, false));
    ranks.push_back(place);
  }
  const std::string text = told(ras_report({ras_communicator(13, {ras_rank(0, 7)}, missing)}), told_group(ranks));
  CHECK_THAT(text, Catch::Contains("rank 8 is missing") && Catch::EndsWith(", and 4 more") &&
                       !Catch::Contains("rank 9 is missing"));
}

TEST_CASE("communicators of other groups are not reported", "[nccl][ras]") {
  const std::string report = ras_report({ras_communicator(2, {ras_rank(0, 7, 2), ras_rank(1, 7)}),
                                         ras_communicator(3, {ras_rank(0, 7), ras_rank(1, 7), ras_rank(2, 7)})});
  CHECK(told(report, told_group({0, 1, 2})) == "NCCL's RAS reports OK for all 3 ranks");
  CHECK(told(report, told_group({0, 1, 2, 3})).empty());
  CHECK(ras_text(asked(report), told_group({0, 1, 2}), ::getpid() + 1).empty());  // of another job
  CHECK(told(ras_report({}), told_group({0})).empty());
}

TEST_CASE("an invalid report of NCCL is no answer", "[nccl][ras]") {
  CHECK_THAT(refused_report("garbage"), Catch::Contains("its report is not a report of NCCL"));
  CHECK_THAT(refused_report(""), Catch::Contains("its report is not a report of NCCL"));
  CHECK_THAT(refused_report("[1, 2]"), Catch::Contains("its report is not a report of NCCL"));
  CHECK_THAT(refused_report(std::string(100'000, '[')), Catch::Contains("its report is not a report of NCCL"));
  CHECK_THAT(refused_report(ras_report({ras_communicator(2, {ras_rank(2, 7)})})),
             Catch::Contains("a rank that is not in the communicator"));
  CHECK_THAT(refused_report(ras_report({ras_communicator(2, {ras_rank(-1, 7)})})),
             Catch::Contains("its \"rank\" is not a valid number"));
  CHECK_THAT(refused_report(ras_report({ras_communicator(0, {})})),
             Catch::Contains("its \"size\" is not a valid number"));
  CHECK_THAT(refused_report(ras_report({ras_communicator(2, {ras_rank(0, -7)})})),
             Catch::Contains("its call counts are not valid numbers"));
}

TEST_CASE("text in another protocol is no answer", "[nccl][ras]") {
  CHECK_THAT(refused(FakeRas(testing::RasAnswers{{"CLIENT PROTOCOL 2", "HTTP/1.1 400 Bad Request\n"}})),
             Catch::EndsWith("it is not a RAS of NCCL; it answered HTTP/1.1 400 Bad Request"));
  auto answers = ras_answers("");
  answers["SET FORMAT json"] = "ERROR: Unknown command SET FORMAT json\n";
  CHECK_THAT(refused(FakeRas(answers)), Catch::Contains("the RAS of this NCCL does not support JSON"));
}

TEST_CASE("a RAS that does not know timeouts is still asked", "[nccl][ras]") {
  auto answers = ras_answers(ras_report({}));
  answers["TIMEOUT 15.000"] = "ERROR: Invalid timeout value 15.000\n";
  const FakeRas ras(answers);
  std::string why_none;
  CHECK(ask_ras(ras.address(), kPlenty, why_none));
}

TEST_CASE("a RAS that does not answer is asked no longer than its timeout", "[nccl][ras]") {
  const std::string silent_at = GENERATE("CLIENT PROTOCOL 2", "SET FORMAT json", "STATUS");
  auto answers = ras_answers("");
  answers["TIMEOUT 0.050"] = "OK\n";
  answers.erase(silent_at);
  const auto begin = base::system_clock().now();
  CHECK_THAT(refused(FakeRas(answers), 100ms), Catch::EndsWith("it did not answer in time"));
  const auto took = base::system_clock().now() - begin;
  CHECK(took >= 100ms);
  CHECK(took < 10s);
}

TEST_CASE("a RAS that sends without end is cut off", "[nccl][ras]") {
  CHECK_THAT(refused(FakeRas(ras_answers(std::string(4096, 'x')), "STATUS")),
             Catch::EndsWith("its report is too long"));
  CHECK_THAT(refused(FakeRas({{"CLIENT PROTOCOL 2", "SERVER"}}, "CLIENT PROTOCOL 2")),
             Catch::EndsWith("its line is too long"));
}

TEST_CASE("there is no answer if no RAS listens at the address", "[nccl][ras]") {
  const std::string address = "127.0.0.1:" + std::to_string(base::find_free_port());
  std::string why_none;
  CHECK_FALSE(ask_ras(address, kPlenty, why_none));
  CHECK_THAT(why_none, Catch::StartsWith("NCCL's RAS at " + address + " cannot be queried: it cannot be reached: ") &&
                           Catch::Contains("refused"));
}

TEST_CASE("addresses that would need a DNS lookup are not asked", "[nccl][ras]") {
  const auto why_not = [](const std::string& address) {
    std::string why_none;
    CHECK_FALSE(ask_ras(address, kPlenty, why_none));
    return why_none;
  };
  CHECK_THAT(why_not("example.org:28028"), Catch::EndsWith("its host is neither an IP address nor localhost"));
  CHECK_THAT(why_not("localhost"), Catch::EndsWith("it has no port"));
  CHECK_THAT(why_not("localhost:many"), Catch::EndsWith("its port is not a number"));
}

}  // namespace
}  // namespace distrun::collectives
