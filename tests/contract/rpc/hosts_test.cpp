// RPC among ranks on two hosts: processes at two addresses of loopback, and a store that a server has.
#include <catch2/catch.hpp>

#include <memory>
#include <string>
#include <vector>

#include <distrun/common/base/error.hpp>
#include <distrun/common/store_server/store_server.hpp>
#include <distrun/runtime/rpc/calls/call.hpp>
#include <distrun/runtime/rpc/functions/register.hpp>
#include <distrun/runtime/rpc/session/session.hpp>
#include <distrun/runtime/store/tcp_store.hpp>
#include <distrun/runtime/tensor/core/factories.hpp>

#include "../backend/rank_processes.hpp"
#include "struck_agent.hpp"
#include "unit/core/on_host.hpp"

namespace distrun::rpc {
namespace {

constexpr int kRanks = 4;

double last_of(const Tensor& tensor) { return static_cast<double>(tensor.data_as<float>()[tensor.numel() - 1]); }
DISTRUN_RPC(last_of)

std::string name_of(int rank) { return "worker" + std::to_string(rank); }
int host_of(int rank) { return rank / 2; }

struct Joining {
  std::vector<std::string> transports{};  // empty: best
  bool is_elastic = false;
};

void join(int rank, std::uint16_t store, const Joining& how) {
  auto options = std::make_shared<PipeOptions>();
  options->transports = how.transports;
  options->init_timeout = 60;
  options->store = std::make_shared<TcpStore>("127.0.0.1", TcpStoreOptions{.port = store, .secret = "open sesame"});
  InitOptions init{name_of(rank), rpc::testing::struck_backend(), rank, kRanks, options};
  if (how.is_elastic) init.world_size.reset();
  init_rpc(init);
}

// Runs ranks 0 and 1 on host a, and 2 and 3 on host b. Returns what each throws.
std::vector<std::string> run_on_hosts(const std::function<void(int rank, std::uint16_t store)>& body) {
  const stores::StoreServer server("127.0.0.1", 0, "open sesame");
  return collectives::run_processes(kRanks, [&](int rank, const std::string&) -> std::string {
    const distrun::testing::OnHost host("a=0-1;b=2-3", rank < 2 ? "127.0.0.1" : "127.0.0.2", rank);
    try {
      body(rank, server.port());
      return "";
    } catch (const std::exception& error) {
      return error.what();
    }
  });
}

void expect(bool is_right, const std::string& what) {
  if (!is_right) throw Error(ErrorKind::Failed, what);
}

// Calls every worker with a small and a large tensor, which would be read directly within a host.
void call_all(int rank) {
  for (int other = 0; other < kRanks; ++other) {
    for (const std::int64_t size : {std::int64_t{3}, std::int64_t{2} << 20}) {
      expect(rpc_sync(name_of(other), last_of, tensor::full({size}, 7)) == 7, "a call to " + name_of(other));
    }
  }
  const auto info = debug_info();
  for (int other = 0; other < kRanks; ++other) {
    if (other == rank) continue;
    const std::string prefix = "pipe." + name_of(other) + ".";
    const bool is_near = host_of(other) == host_of(rank);
    expect(info.at(prefix + "transport") == (is_near ? "shm" : "tcp"), prefix + info.at(prefix + "transport"));
    if (is_near) continue;
    const std::string why = info.at(prefix + "not_taken.shm");
    expect(why == "the peer is on another host (a, b)" || why == "the peer is on another host (b, a)", why);
    expect(info.contains(prefix + "not_taken.cma"), "cma between hosts");
  }
}

TEST_CASE("workers of one host share memory, and those of different hosts are connected by TCP") {
  const auto thrown = run_on_hosts([](int rank, std::uint16_t store) {
    join(rank, store, {});
    call_all(rank);
    shutdown();
  });
  CHECK(thrown == std::vector<std::string>(kRanks));
}

TEST_CASE("workers of several hosts join a group in which workers come and go") {
  const auto thrown = run_on_hosts([](int rank, std::uint16_t store) {
    join(rank, store, {.is_elastic = true});
    const auto meeting =
        std::make_shared<TcpStore>("127.0.0.1", TcpStoreOptions{.port = store, .secret = "open sesame"});
    const auto meet = [&](const std::string& where) {
      meeting->set(where + std::to_string(rank), "");
      for (int other = 0; other < kRanks; ++other) meeting->wait({where + std::to_string(other)});
    };
    meet("joined");
    call_all(rank);
    meet("called");
    shutdown();
  });
  CHECK(thrown == std::vector<std::string>(kRanks));
}

TEST_CASE("a transport of one machine that a run wants cannot connect hosts, and the error says what can") {
  const auto thrown = run_on_hosts([](int rank, std::uint16_t store) { join(rank, store, {.transports = {"shm"}}); });
  for (const std::string& each : thrown) {
    CHECK_THAT(each, Catch::Contains("can't be reached by what it says of itself") &&
                         Catch::Contains("where only TCP reaches it, and it has no TCP"));
  }
}

}  // namespace
}  // namespace distrun::rpc
