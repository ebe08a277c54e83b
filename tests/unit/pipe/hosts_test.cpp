// Workers on several hosts: what their addresses say, and what is said of their processes.
#include <catch2/catch.hpp>

#include <unistd.h>

#include <agents/pipe/handshake.hpp>
#include <agents/pipe/peer_process.hpp>
#include <agents/pipe/transports/address.hpp>

#include "support/error_of.hpp"
#include "unit/core/fake_rank_line.hpp"
#include "unit/core/on_host.hpp"

namespace distrun::agents::pipe {
namespace {

using distrun::testing::error_of;
using distrun::testing::OnHost;

constexpr char kOnB[] = "uds:distrun-rpc-1;tcp:127.0.0.2:4711;host:b;rank:3;pid:77";

std::string why_not_shm(const std::string& own, const std::string& peers) {
  Identity self;
  self.transports = {{"shm", own, ""}};
  Hello hello;
  hello.transports = {{"shm", peers, ""}};
  return reasons(choose(self, hello, SocketKind::Uds, 1).not_taken);
}

TEST_CASE("the address of a worker on another host has its TCP socket only, and names host, rank and process") {
  const OnHost here("a=0-1;b=2-3", "127.0.0.1", 0);
  CHECK(to_string(parse_address(kOnB)) == "tcp:127.0.0.2:4711");
  CHECK(is_far(kOnB));
  CHECK(host_in(kOnB) == "b");
  CHECK(rank_in(kOnB) == 3);
  CHECK(pid_in(kOnB) == 77);
  const std::string near = "uds:distrun-rpc-1;tcp:127.0.0.1:4711;host:a;rank:1;pid:78";
  CHECK(to_string(parse_address(near)) == "uds:distrun-rpc-1;tcp:127.0.0.1:4711");
  CHECK_FALSE(is_far(near));
}

TEST_CASE("a worker on another host without TCP is refused, and the error says what to use") {
  const OnHost here("a=0-1;b=2-3", "127.0.0.1", 0);
  CHECK_THAT(
      error_of([] { parse_address("uds:distrun-rpc-1;host:b;rank:3;pid:77"); }).text(),
      Catch::Contains("it is on host b, where only TCP reaches it, and it has no TCP; use the transports best or "
                      "tcp (--rpc-transport)"));
  CHECK_THAT(error_of([] { parse_address("uds:distrun-rpc-1;host:b c"); }).text(),
             Catch::Contains("its host has no valid name"));
}

TEST_CASE("with one host an address has no host, and one that names a host is near") {
  CHECK(to_string(parse_address(kOnB)) == "uds:distrun-rpc-1;tcp:127.0.0.2:4711");
  CHECK_FALSE(is_far(kOnB));
  CHECK_FALSE(machine_descriptor().starts_with("host="));
}

TEST_CASE("workers share memory only within a host, with any boot id, and learn the other host") {
  std::string on_a, on_b;
  {
    const OnHost here("a=0-1;b=2-3", "127.0.0.1", 0);
    on_a = machine_descriptor();
  }
  {
    const OnHost here("a=0-1;b=2-3", "127.0.0.1", 3);
    on_b = machine_descriptor();
  }
  CHECK(why_not_shm(on_a, on_b) == "shm: the peer is on another host (a, b)");
  CHECK(why_not_shm(on_b, on_a) == "shm: the peer is on another host (b, a)");
  CHECK(why_not_shm(on_a, on_a).empty());
}

TEST_CASE("the process of a worker on another host is reported with its host, and not looked up on this one") {
  const OnHost here("a=0-1;b=2-3", "127.0.0.1", 0);
  distrun::testing::FakeRank rank;
  rank.line.pids = {{1, 77}};
  const rpc::WorkerInfo worker("worker", 1);
  const std::string address = kOnB;
  PeerProcess process(worker, address);
  CHECK(process.rank() == 3);
  CHECK_FALSE(process.has_died());
  CHECK_FALSE(process.was_cut_off());
  CHECK(process.unreachable("no answer").text() == "no answer; it is process 77 on b");
  CHECK(process.gone("the peer closed the connection").text() ==
        "worker (process 77 on b) is gone: the peer closed the connection");
  CHECK(process.was_cut_off());
}

}  // namespace
}  // namespace distrun::agents::pipe
