#include <catch2/catch.hpp>

#include <unistd.h>

#include <cstdlib>

#include <distrun/common/base/error.hpp>
#include <distrun/runtime/core/deaths.hpp>
#include <distrun/runtime/core/hosts.hpp>
#include <distrun/runtime/core/thread_state.hpp>

#include "fake_rank_line.hpp"
#include "on_host.hpp"
#include "support/error_of.hpp"

namespace distrun::core {
namespace {

using testing::error_of;

constexpr char kTwo[] = "node01=0-3;node-2.b_c=4,6-7, 5";

std::string why_not(std::string_view hosts, std::string_view address = "10.77.1.2", int rank = 0) {
  return error_of([&] { Hosts(hosts, address, rank); }).text();
}

TEST_CASE("without variables all ranks are on one host, which is reached at 127.0.0.1") {
  const Hosts none("", "", 0);
  CHECK_FALSE(none.are_several());
  CHECK(none.name().empty());
  CHECK(none.address() == "127.0.0.1");
  CHECK(none.is_here(0));
  CHECK(none.is_here(99));
  const Hosts one("node01=0-3", "10.77.1.2", 0);
  CHECK_FALSE(one.are_several());
  CHECK(one.address() == "127.0.0.1");
  CHECK(one.is_here(7));
}

TEST_CASE("each rank has its host, and a process is on the host of its rank") {
  const Hosts hosts(kTwo, "10.77.1.2", 5);
  CHECK(hosts.are_several());
  CHECK(hosts.name() == "node-2.b_c");
  CHECK(hosts.address() == "10.77.1.2");
  CHECK(hosts.rank_count() == 8);
  CHECK(hosts.host_of(3) == "node01");
  CHECK(hosts.host_of(8).empty());
  CHECK_FALSE(hosts.is_here(0));
  CHECK(hosts.is_here(7));
  CHECK_FALSE(hosts.is_here(8));
  CHECK(Hosts(kTwo, "fd00::12", 0).address() == "fd00::12");
}

TEST_CASE("a process that is not a rank of the test has no host") {
  const Hosts hosts(kTwo, "10.77.1.2", -1);
  CHECK(hosts.name().empty());
  CHECK_FALSE(hosts.is_here(0));
  CHECK_FALSE(hosts.is_here(-1));
}

TEST_CASE("hosts that cannot be read are refused with the variable, its value and an example") {
  const std::string end = "; expected the ranks of each host, as in node01=0-3;node02=4,6-7";
  CHECK(why_not("a=0;b c=1") ==
        "$DISTRUN_HOSTS is \"a=0;b c=1\": \"b c\" is not a host's name, which has up to 100 letters, digits, '-', '.' "
        "and '_'" +
            end);
  CHECK_THAT(why_not("a=0;a=1"), Catch::Contains("host a is listed twice"));
  CHECK_THAT(why_not("a=0-1;b=1"), Catch::Contains("rank 1 is on two hosts"));
  CHECK_THAT(why_not("a=0;b=1", "10.77.1.2", 2), Catch::Contains("no host has rank 2, which runs here"));
  const std::string ranks = GENERATE(as<std::string>(), "", "x", "-1", "1-", "3-1", "1,,2", "1x", "99999999999");
  CHECK_THAT(why_not("a=0;b=" + ranks), Catch::Contains("host b has \"") && Catch::EndsWith(end));
}

TEST_CASE("an address that is missing, or a name, is refused if there are several hosts") {
  const std::string address = GENERATE(as<std::string>(), "", "node01", "10.77.1", "10.77.1.2:80", "[::1]");
  CHECK(why_not("a=0;b=1", address) ==
        "$DISTRUN_HOST_ADDRESS is \"" + address +
            "\": expected the numeric IPv4 or IPv6 address at which other hosts reach this one, as in 10.77.1.2; "
            "$DISTRUN_HOSTS names several hosts");
}

TEST_CASE("the environment says which hosts there are, and may change with the test") {
  CHECK_FALSE(hosts().are_several());
  {
    const testing::OnHost a("a=0;b=1", "127.0.0.2", 0);
    CHECK(hosts().name() == "a");
    CHECK(&hosts() == &hosts());
  }
  {
    const testing::OnHost of_variable("a=0;b=1", "127.0.0.2", -1);
    ::setenv("DISTRUN_RANK", "1", 1);
    CHECK(hosts().name() == "b");
    ::unsetenv("DISTRUN_RANK");
    CHECK(hosts().name().empty());
  }
  const testing::OnHost unreadable("nonsense", "127.0.0.2", 0);
  CHECK_THAT(error_of([] { hosts(); }).text(), Catch::Contains("nonsense"));
  CHECK_FALSE(known_hosts().are_several());
}

TEST_CASE("a process id that a rank of another host shows is not looked up on this host") {
  testing::FakeRank rank;
  constexpr int kGone = 4'190'000;  // no process here has such an id
  rank.line.pids = {{0, kGone}, {1, kGone}, {2, ::getpid()}};
  const testing::OnHost host("a=0,2;b=1", "127.0.0.1", 2);
  CHECK(death_of(0));
  CHECK_FALSE(death_of(1));
  CHECK(first_death()->rank == 0);
  CHECK(rank_of_dead(0) == 0);
  CHECK(rank_of_dead(1) == -1);
  CHECK(rank_of_peer(-1, kGone) == 0);
  CHECK(rank_of_peer(1, kGone) == 0);
  CHECK(rank_of_peer(1, 0) == -1);
  CHECK(are_all_ranks(3));
}

}  // namespace
}  // namespace distrun::core
