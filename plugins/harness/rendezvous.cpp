// Rendezvous by environment variables, and worlds that follow from the machine.
#include <distrun/base/free_port.hpp>
#include <distrun/sdk/test.hpp>

#include <cstdlib>
#include <string>

namespace {

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

}  // namespace

DISTRUN_TEST(Rendezvous, each_rank_finds_its_place_and_one_port, .env_rendezvous = true) {
  rank.note("rows", "[row:dynamo/_dynamo_dist_per_rank_init]");
  DISTRUN_EXPECT(variable("RANK") == std::to_string(rank.rank()));
  DISTRUN_EXPECT(variable("LOCAL_RANK") == std::to_string(rank.rank()));
  DISTRUN_EXPECT(variable("MASTER_ADDR") == "127.0.0.1");
  const std::string port = variable("MASTER_PORT");
  DISTRUN_EXPECT(std::atoi(port.c_str()) > 0);
  rank.send(0, "port", port);
  if (!rank.is_master()) return;
  for (int other = 0; other < rank.world_size(); ++other) DISTRUN_EXPECT(rank.receive(other, "port") == port);
}

DISTRUN_TEST(Rendezvous, a_single_process_is_a_world, .world_size = fixed(1), .env_rendezvous = true) {
  rank.note("rows", "[row:dynamo/DynamoDistributedSingleProcTestCase]");
  DISTRUN_EXPECT(rank.rank() == 0);
  DISTRUN_EXPECT(rank.world_size() == 1);
  DISTRUN_EXPECT(variable("RANK") == "0");
  DISTRUN_EXPECT(!variable("MASTER_PORT").empty());
  rank.barrier("alone");
}

DISTRUN_TEST(Rendezvous, a_free_port_is_found) {
  rank.note("rows", "[row:helpers/FILE_SCHEMA-find_free_port-flags]");
  const int port = distrun::base::find_free_port();
  DISTRUN_EXPECT(port > 0);
  DISTRUN_EXPECT(port < 65536);
}
