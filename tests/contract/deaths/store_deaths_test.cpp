// Waits for keys that a rank was to write before it was killed.
#include <catch2/catch.hpp>

#include <distrun/common/base/error.hpp>
#include <distrun/runtime/collectives/process_group.hpp>
#include <distrun/runtime/rpc/session/session.hpp>
#include <distrun/runtime/store/awaited_ranks.hpp>
#include <distrun/runtime/store/file_store.hpp>
#include <distrun/runtime/store/tcp_store.hpp>

#include "../rpc/struck_agent.hpp"
#include "deaths.hpp"

namespace distrun::testing::deaths {
namespace {

constexpr base::Nanoseconds kPatience = std::chrono::seconds(25);

std::string path_in(const std::string& folder) { return folder + "/store"; }

void wait_for_victim(Store& store) {
  const stores::AwaitedRanks awaited({kVictim}, {kVictim});
  store.wait({"of the victim"}, kPatience);
}

Operation open_file(int, const std::string& folder) {
  return [store = std::make_shared<FileStore>(path_in(folder))] { wait_for_victim(*store); };
}

// Served by one of the ranks, which tells the others its port in a file.
std::shared_ptr<TcpStore> tcp_store(int rank, int server, const std::string& folder) {
  FileStore port(path_in(folder));
  TcpStoreOptions options{.is_server = rank == server, .timeout = kPatience, .secret = "secret"};
  if (rank != server) options.port = static_cast<std::uint16_t>(std::stoi(port.get("port")));
  auto store = std::make_shared<TcpStore>("localhost", options);
  if (rank == server) port.set("port", std::to_string(store->port()));
  return store;
}

Operation open_tcp(int rank, const std::string& folder) {
  return [store = tcp_store(rank, 0, folder)] { wait_for_victim(*store); };
}

// The store goes with its server.
Operation open_tcp_of_victim(int rank, const std::string& folder) {
  return [store = tcp_store(rank, kVictim, folder)] { store->wait({"never set"}, kPatience); };
}

// The first rank serves the store, and closes it because of the death; the others wait for no rank that they know.
Operation open_tcp_of_follower(int rank, const std::string& folder) {
  return [rank, store = tcp_store(rank, 0, folder)]() mutable {
    if (rank != 0) return store->wait({"never set"}, kPatience);
    try {
      wait_for_victim(*store);
    } catch (const Error&) {
      store.reset();
      throw;
    }
  };
}

// It dies before it has come to the meeting of all.
Operation open_session(int rank, const std::string& folder) {
  auto options = std::make_shared<rpc::PipeOptions>();
  options->init_timeout = 25;
  options->store = std::make_shared<FileStore>(path_in(folder));
  return [options, rank] {
    rpc::init_rpc({"worker" + std::to_string(rank), rpc::testing::struck_backend(), rank, kRanks, options});
  };
}

// Of the group the victim is the first rank, by whose key the others find each other.
Operation open_group(int rank, const std::string& folder) {
  collectives::GroupInfo info;
  info.name = "of the victim";
  info.ranks = {kVictim, 0, 1, 3};
  info.rank = rank == 3 ? 3 : rank + 1;
  return [info, folder] {
    ProcessGroup group(info, std::make_shared<FileStore>(path_in(folder)), GroupOptions{"shm", kPatience});
  };
}

TEST_CASE("waits for keys name the killed rank that would have written them") {
  check({
      {"a store in a file", open_file},
      {"a store over TCP", open_tcp},
      {"a store over TCP that the killed rank serves", open_tcp_of_victim},
      {"a store over TCP with a server that exits because of the death", open_tcp_of_follower},
      {"init_rpc", open_session},
      {"the start of a group", open_group},
  });
}

}  // namespace
}  // namespace distrun::testing::deaths
