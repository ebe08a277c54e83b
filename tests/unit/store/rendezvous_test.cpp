// Addresses of stores: their parts, and missing parts.
#include <catch2/catch.hpp>

#include <cstdlib>

#include <distrun/common/base/error.hpp>
#include <distrun/common/base/free_port.hpp>
#include <distrun/common/base/thread.hpp>
#include <distrun/runtime/store/rendezvous.hpp>

#include "support/scratch.hpp"

namespace distrun::stores {
namespace {

using namespace std::chrono_literals;

// Sets environment variables for a scope; null: not set.
class Variables {
 public:
  explicit Variables(std::vector<std::pair<const char*, const char*>> all) : all_(std::move(all)) {
    for (const auto& [name, value] : all_) value != nullptr ? ::setenv(name, value, 1) : ::unsetenv(name);
  }
  ~Variables() {
    for (const auto& [name, value] : all_) ::unsetenv(name);
  }
  Variables(const Variables&) = delete;
  Variables& operator=(const Variables&) = delete;

 private:
  std::vector<std::pair<const char*, const char*>> all_;
};

TEST_CASE("ranks meet in a file, which the last rank removes") {
  const testing::Scratch folder;
  const std::string path = folder.path() + "/rendezvous";
  {
    const Rendezvous one = rendezvous("file://" + path + "?rank=1&world_size=2");
    const Rendezvous other = rendezvous("file://" + path, 0, 2, 5s);
    CHECK(one.rank == 1);
    CHECK(one.world_size == 2);
    CHECK(other.rank == 0);
    CHECK(other.store->timeout() == 5s);
    one.store->set("key", "value");
    CHECK(other.store->get("key") == "value");
  }
  CHECK_FALSE(testing::exists(path));
}

TEST_CASE("ranks meet where rank 0 serves, in either order") {
  const std::string port = std::to_string(base::find_free_port());
  const std::string host = GENERATE("localhost", "127.0.0.1", "");
  const std::string url = "tcp://" + host + ":" + port + "?world_size=2";
  std::string got;
  base::Thread late("rank 1", [&] { got = rendezvous(url, 1).store->get("key"); });
  const Rendezvous first = rendezvous(url, 0);
  first.store->set("key", "value");
  late.join();
  CHECK(got == "value");
}

TEST_CASE("the environment has the address, and the given address wins") {
  const std::string port = std::to_string(base::find_free_port());
  const Variables variables(
      {{"MASTER_ADDR", "127.0.0.1"}, {"MASTER_PORT", port.c_str()}, {"RANK", "0"}, {"WORLD_SIZE", "3"}});
  const Rendezvous found = rendezvous("env://");
  CHECK(found.rank == 0);
  CHECK(found.world_size == 3);
  const Rendezvous other = rendezvous("env://?rank=2&world_size=5");
  CHECK(other.rank == 2);
  CHECK(other.world_size == 5);
  found.store->set("key", "value");
  CHECK(other.store->get("key") == "value");
}

TEST_CASE("missing parts of an address are named") {
  const Variables none(
      {{"MASTER_ADDR", nullptr}, {"MASTER_PORT", nullptr}, {"RANK", nullptr}, {"WORLD_SIZE", nullptr}});
  const std::vector<std::pair<const char*, const char*>> rows{
      {"file://", "path missing"},
      {"file:///tmp/x", "rank parameter missing"},
      {"file:///tmp/x?rank=0", "world size parameter missing"},
      {"tcp://localhost", "port number missing"},
      {"tcp://[::1]", "port number missing"},
      {"tcp://localhost:1", "rank parameter missing"},
      {"tcp://localhost:1?rank=0", "world size parameter missing"},
      {"tcp://localhost:0?rank=0&world_size=1",
       "port 0 is not allowed, since other ranks could not know the chosen port"},
      {"tcp://localhost:99999?rank=0&world_size=1", "the port is \"99999\", not a number from 0 to 65535"},
      {"tcp://localhost:1?rank=x&world_size=1", "rank is \"x\", not a number from 0 to 1048576"},
      {"tcp://localhost:1?rank=2&world_size=2", "rank 2 is out of range for world size 2"},
      {"tcp://localhost:1?rank=0&world_size=0", "world size is \"0\", not a number from 1 to 1048576"},
      {"env://", "environment variable RANK expected, but not set"},
      {"env://?rank=0", "environment variable WORLD_SIZE expected, but not set"},
      {"env://?rank=0&world_size=1", "environment variable MASTER_ADDR expected, but not set"},
      {"nothing", "not an address: \"scheme://\" is missing"},
  };
  for (const auto& [url, what] : rows) {
    INFO(url);
    CHECK_THROWS_WITH(rendezvous(url), Catch::EndsWith(what));
  }
  CHECK_THROWS_WITH(rendezvous("file:///tmp/x?rank=0&world_size=2", 0),
                    Catch::EndsWith("the address sets rank, and so does an argument; leave one of them out"));
  CHECK_THROWS_WITH(rendezvous("file:///tmp/x?rank=0&world_size=2", {}, 2),
                    Catch::EndsWith("the address sets world_size, and so does an argument; leave one of them out"));
  CHECK_THROWS_WITH(rendezvous("carrier-pigeon://coop"), "No rendezvous handler for carrier-pigeon://");
}

}  // namespace
}  // namespace distrun::stores
