#include <catch2/catch.hpp>

#include <distrun/common/base/rank_hosts.hpp>

using namespace distrun::base;

TEST_CASE("where all ranks run on this machine, no host is named") {
  const RankHosts unknown;
  const RankHosts local(std::vector<std::string>(8));
  for (const RankHosts& hosts : {unknown, local}) {
    CHECK(hosts.empty());
    CHECK(hosts.of(3).empty());
    CHECK(hosts.label(3) == "rank 3");
    CHECK(hosts.label(-1) == "the host");
    CHECK(hosts.label({0, 1, 2, 5}) == "ranks 0-2, 5");
  }
}

TEST_CASE("a rank is named with its host, and a list with the hosts of its parts") {
  const RankHosts hosts({"node01", "node01", "node01", "node01", "node02", "node02", "node02", "node02"});
  CHECK_FALSE(hosts.empty());
  CHECK(hosts.of(4) == "node02");
  CHECK(hosts.of(8).empty());
  CHECK(hosts.of(-1).empty());
  CHECK(hosts.label(5) == "rank 5 on node02");
  CHECK(hosts.label({4, 6, 7}) == "ranks 4, 6-7 on node02");
  CHECK(hosts.label({0, 1, 2, 3, 4, 5, 6, 7}) == "ranks 0-3 on node01, 4-7 on node02");
  CHECK(hosts.label(-1) == "the host");
  CHECK(hosts.label(std::vector<int>{}) == "ranks ");
}

TEST_CASE("ranks on this machine beside others are named so") {
  const RankHosts hosts({"", "node02"});
  CHECK(hosts.label(0) == "rank 0 on this machine");
  CHECK(hosts.label({0, 1}) == "ranks 0 on this machine, 1 on node02");
}

TEST_CASE("a list of ranks of many hosts has only the number of hosts") {
  std::vector<std::string> by_rank;
  std::vector<int> ranks;
  for (int rank = 0; rank < 128; ++rank) {
    by_rank.push_back("node" + std::to_string(rank / 8));
    ranks.push_back(rank);
  }
  CHECK(RankHosts(by_rank).label(ranks) == "ranks 0-127 on 16 hosts");
}
