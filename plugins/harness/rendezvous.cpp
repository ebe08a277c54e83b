// Rendezvous by environment variables, and world sizes derived from the machine.
#include <distrun/common/base/fd.hpp>
#include <distrun/common/base/free_port.hpp>
#include <distrun/test.hpp>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>

#include "support/hosts.hpp"

namespace {

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

bool can_be_bound(int port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  const distrun::base::Fd socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  return ::bind(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
}

void add_line(std::string_view directory, const std::string& file) {
  std::ofstream(std::string(directory) + "/" + file, std::ios::app) << "once\n";
}

std::string text_of(std::string_view directory, const std::string& file) {
  std::ifstream in(std::string(directory) + "/" + file);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

}  // namespace

// Set-up shared by all tests of a process that is a whole world. The host counts afterwards.
class SingleProcessSuite : public distrun::SuiteFixture {
 public:
  void set_up_suite(distrun::Rank& rank) override {
    DISTRUN_EXPECT(variable("RANK") == "0");
    DISTRUN_EXPECT(rank.world_size() == 1);
    port_ = variable("MASTER_PORT");
    add_line(rank.suite_dir(), "set-up");
  }
  void tear_down_suite(distrun::Rank& rank) override {
    DISTRUN_EXPECT(!variable("MASTER_PORT").empty());
    add_line(rank.suite_dir(), "torn-down");
  }
  void tear_down_host(distrun::Host& host) override {
    DISTRUN_EXPECT(text_of(host.temp_dir(), "set-up") == "once\n");
    DISTRUN_EXPECT(text_of(host.temp_dir(), "torn-down") == "once\n");
  }
  const std::string& port() const noexcept { return port_; }

 private:
  std::string port_;
};

DISTRUN_SUITE_FIXTURE(SingleProcess, SingleProcessSuite);
DISTRUN_SUITE(SingleProcess, .world_size = fixed(1), .isolation = Isolation::Pool, .env_rendezvous = true);

DISTRUN_TEST(Rendezvous, each_rank_finds_its_place_and_one_port, .env_rendezvous = true) {
  rank.note("rows", "[row:dynamo/_dynamo_dist_per_rank_init]");
  DISTRUN_EXPECT(variable("RANK") == std::to_string(rank.rank()));
  if (!distrun::suites::are_hosts_several()) {
    DISTRUN_EXPECT(variable("LOCAL_RANK") == std::to_string(rank.rank()));
    DISTRUN_EXPECT(variable("MASTER_ADDR") == "127.0.0.1");
  }
  const std::string port = variable("MASTER_PORT");
  DISTRUN_EXPECT(std::atoi(port.c_str()) > 0);
  rank.send(0, "port", port);
  if (!rank.is_master()) return;
  for (int other = 0; other < rank.world_size(); ++other) DISTRUN_EXPECT(rank.receive(other, "port") == port);
}

DISTRUN_TEST(SingleProcess, is_a_world) {
  rank.note("rows", "[row:dynamo/DynamoDistributedSingleProcTestCase]");
  DISTRUN_EXPECT(rank.rank() == 0);
  DISTRUN_EXPECT(rank.world_size() == 1);
  DISTRUN_EXPECT(variable("RANK") == "0");
  DISTRUN_EXPECT(!variable("MASTER_PORT").empty());
  rank.barrier("alone");
}

DISTRUN_TEST(SingleProcess, is_set_up_once_for_all_tests) {
  rank.note("rows", "[row:dynamo/DynamoDistributedSingleProcTestCase]");
  DISTRUN_EXPECT(!rank.suite<SingleProcessSuite>().port().empty());
  DISTRUN_EXPECT(text_of(rank.suite_dir(), "set-up") == "once\n");
  DISTRUN_EXPECT(text_of(rank.suite_dir(), "torn-down").empty());
}

DISTRUN_TEST(Rendezvous, a_free_port_is_found) {
  rank.note("rows", "[row:helpers/FILE_SCHEMA-find_free_port-flags]");
  const int port = distrun::base::find_free_port();
  DISTRUN_EXPECT(port > 0);
  DISTRUN_EXPECT(can_be_bound(port));
}
