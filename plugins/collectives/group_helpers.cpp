// The ported tests' helpers that open groups and stores.
#include <set>

#include "support/groups.hpp"
#include "support/hosts.hpp"
#include "values.hpp"

namespace {

using namespace distrun;
using namespace distrun::suites;

TcpStoreOptions served_at(std::uint16_t port) {
  TcpStoreOptions options = own_store();
  options.port = port;
  return options;
}

}  // namespace

DISTRUN_TEST(GroupHelpers, initialize_pg_opens_a_group_once) {
  rank.note("rows", "[row:pg/initialize_pg-init_method-rank-world_size]");
  DISTRUN_EXPECT(!collectives::is_initialized());
  initialize_pg(std::string(rank.init_method()), rank.rank(), rank.world_size());
  const auto group = default_group();
  DISTRUN_EXPECT(group->size() == rank.world_size());
  DISTRUN_EXPECT(group->rank() == rank.rank());
  DISTRUN_EXPECT(group->backend() == (are_hosts_several() ? "gloo" : "shm"));
  DISTRUN_EXPECT(group->timeout() == std::chrono::minutes(30));
  initialize_pg("nowhere", -1, 0);  // does nothing: there is one
  DISTRUN_EXPECT(default_group() == group);
  store(rank)->add("come", 1);
  group->barrier();
  DISTRUN_EXPECT(store(rank)->add("come", 0) == rank.world_size());
}

// Variables belong to the process, and so does the level.
DISTRUN_TEST(GroupHelpers, debug_levels_are_those_of_groups,
             .skip = {skip_if([](const ListContext& run) { return run.isolation == "threads"; },
                              "ranks that are threads share the debug level")}) {
  rank.note("rows", "[row:env/with_dist_debug_levels-levels]");
  const EnvironmentScope before{{"TORCH_DISTRIBUTED_DEBUG", "INFO"}};
  collectives::set_debug_level(DebugLevel::Off);
  std::string seen;
  const auto look = [&] { seen += std::string(collectives::name_of(collectives::debug_level())) + " "; };
  with_dist_debug_levels(rank, {"OFF", "DETAIL", "INFO"}, look);
  DISTRUN_EXPECT(seen == "off detail info ");
  DISTRUN_EXPECT(collectives::debug_level() == DebugLevel::Off);
}

DISTRUN_TEST(GroupHelpers, create_tcp_store_finds_a_port) {
  rank.note("rows", "[row:helpers/create_tcp_store]");
  const auto own = create_tcp_store();
  DISTRUN_EXPECT(own->timeout() == std::chrono::seconds(300));
  own->set("owner", rank.worker_name(rank.rank()));
  rank.send(0, "port", std::to_string(own->port()));
  rank.barrier("all are open");
  const auto client = create_tcp_store("localhost", {.port = own->port()});
  DISTRUN_EXPECT(client->get("owner") == rank.worker_name());
  if (!rank.is_master()) return;
  std::set<std::string> ports;
  for (int each = 0; each < rank.world_size(); ++each) ports.insert(rank.receive(each, "port"));
  DISTRUN_EXPECT(ports.size() == static_cast<std::size_t>(rank.world_size()));
}

// Runs on one rank only: another rank's store could get the port that this one has released.
DISTRUN_TEST(GroupHelpers, create_tcp_store_tries_a_port_again) {
  rank.note("rows", "[row:helpers/create_tcp_store]");
  if (!rank.is_master()) return;
  auto first = create_tcp_store("127.0.0.1");
  const std::uint16_t port = first->port();
  int rests = 0;
  const PortTries three{.count = 3, .rest = [&] { ++rests; }};
  DISTRUN_EXPECT_THROWS(Error,
                        "Failing after 3 retries with error: ", create_tcp_store("127.0.0.1", served_at(port), three));
  DISTRUN_EXPECT(rests == 2);
  DISTRUN_EXPECT_THROWS(Error, "failed to listen", create_tcp_store("192.0.2.1", served_at(port), three));
  DISTRUN_EXPECT(rests == 2);  // waiting would not help
  const auto second = create_tcp_store("127.0.0.1", served_at(port), {.rest = [&] { first.reset(); }});
  DISTRUN_EXPECT(second->port() == port);
  second->set("key", "value");
  DISTRUN_EXPECT(second->get("key") == "value");
}

DISTRUN_TEST(GroupHelpers, create_device_chooses_where_to_listen) {
  rank.note("rows", "[row:helpers/create_device-interface]");
  DISTRUN_EXPECT(create_device() == "127.0.0.1");
  DISTRUN_EXPECT(create_device("lo") == "127.0.0.1");
  DISTRUN_EXPECT_THROWS(Error, "no interface \"none0\" with an address; there are ", create_device("none0"));
  const auto served = create_tcp_store(create_device("lo"));
  served->set("key", "value");
  TcpStore client(create_device(), {.port = served->port()});
  DISTRUN_EXPECT(client.get("key") == "value");
}
