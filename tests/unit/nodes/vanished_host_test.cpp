// Links between hosts when the network fails. Both ends of a link are in this process, on imitated hosts.
#include <catch2/catch.hpp>

#include <memory>
#include <string>
#include <vector>

#include <distrun/runner/nodes/link.hpp>

#include "../support/loop.hpp"
#include "ends.hpp"
#include "support/hosts.hpp"
#include "support/sandbox.hpp"
#include "support/skip.hpp"

namespace distrun::nodes {
namespace {

using namespace std::chrono_literals;
using testing::ImitatedHosts;
using testing::InNetworkOf;
using testing::run_for;
using testing::run_until;

// A link from the head, where the coordinator is, to node01.
struct Between {
  Between() {
    base::Fd listening, accepted, connected;
    {
      const InNetworkOf network(hosts, "head");
      const stores::TcpAddress address = stores::resolve(hosts.head().address, 0).front();
      listening = stores::make_tcp_socket(address.family());
      REQUIRE(::bind(listening.get(), address.get(), address.size) == 0);
      REQUIRE(::listen(listening.get(), 1) == 0);
    }
    {
      const InNetworkOf network(hosts, "node01");
      const stores::TcpAddress place = stores::resolve(hosts.head().address, stores::port_of(listening.get())).front();
      connected = ends::raw_socket();
      REQUIRE(::connect(connected.get(), place.get(), place.size) == 0);
    }
    accepted.reset(::accept4(listening.get(), nullptr, nullptr, SOCK_CLOEXEC));
    REQUIRE(accepted);
    coordinator = std::make_unique<Link>(loop, std::move(accepted));
    node = std::make_unique<Link>(loop, std::move(connected));
    coordinator->follow({[](const wire::Frame&) {}, [this](const std::string& why) { lost_node = why; }});
    node->follow({[](const wire::Frame&) {}, [this](const std::string& why) { lost_coordinator = why; }});
  }

  ImitatedHosts hosts{1};
  io::Loop loop;
  std::unique_ptr<Link> coordinator, node;
  std::string lost_node, lost_coordinator;
};

TEST_CASE("a host that vanishes is known within a second, on both sides of a link") {
  testing::skip_case_if(!testing::hosts_possible(), testing::why_no_hosts());
  Between between;
  CHECK(between.coordinator->peer_address() == between.hosts.host("node01").address);
  CHECK(between.node->local_address() == between.hosts.host("node01").address);
  run_for(between.loop, 500ms);
  SECTION("its packets vanish") { between.hosts.blackhole("node01"); }
  SECTION("its cable is out") { between.hosts.link_down("node01"); }
  CHECK(between.lost_node.empty());
  const auto begin = std::chrono::steady_clock::now();
  REQUIRE(run_until(between.loop, [&] { return !between.lost_node.empty() && !between.lost_coordinator.empty(); }));
  CHECK(std::chrono::steady_clock::now() - begin < testing::at_latest(1s));
  CHECK(between.lost_node == "silent for 600.0 ms: its host or the network does not answer");
  CHECK(between.lost_coordinator == between.lost_node);
}

TEST_CASE("a network that fails for a moment loses no link") {
  testing::skip_case_if(!testing::hosts_possible(), testing::why_no_hosts());
  Between between;
  run_for(between.loop, 300ms);
  between.hosts.blackhole("node01");
  run_for(between.loop, 200ms);
  between.hosts.undo("node01");
  run_for(between.loop, 1500ms);
  CHECK(between.lost_node.empty());
  CHECK(between.lost_coordinator.empty());
}

}  // namespace
}  // namespace distrun::nodes
