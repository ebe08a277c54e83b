// Start and end of sessions: shutdown with the others and alone, repeated sessions, and beside a process group.
#include "suites.hpp"

#include <cstdlib>

#include <distrun/collectives.hpp>
#include <distrun/common/base/free_port.hpp>

using namespace distrun;
using namespace distrun::suites;

namespace {

Tensor add_at_next(const Rank& rank) {
  const std::int64_t n = n_of(rank);
  return rpc_sync<Tensor>(next_worker(rank), "add", square(n), square(n));
}

void expect_sum_and_end(Rank& rank) {
  const Tensor sum = rpc_sync<Tensor>(next_worker(rank), "add", square(2), 1);
  DISTRUN_EXPECT(what_differs(sum, square(2, 2)) == "");
  group_barrier();
  rpc::shutdown();
  DISTRUN_EXPECT(!rpc::is_initialized());
}

// Returns the address of a store that rank 0 serves.
std::string tcp_address(Rank& rank) {
  if (rank.is_master()) {
    const std::string port = std::to_string(base::find_free_port());
    for (int each = 0; each < rank.world_size(); ++each) rank.send(each, "port", port);
  }
  return "tcp://" + std::string(std::getenv("MASTER_ADDR")) + ":" + rank.receive(0, "port");
}

// These tests meet by a file.
bool meets_by_tcp(const ListContext&) {
  const char* const wanted = std::getenv("RPC_INIT_WITH_TCP");
  return wanted != nullptr && std::string(wanted) == "1";
}
constexpr char kByFile[] = "the ranks meet by a file, and RPC_INIT_WITH_TCP is 1";

}  // namespace

DISTRUN_TEST(RpcTest, reinit) {
  rank.barrier("all have begun");
  for (const bool by_tcp : {false, true}) {
    const auto options = rpc_options(rank);
    if (by_tcp) {
      options->store = nullptr;
      options->init_method = tcp_address(rank);
    }
    start_rpc(rank, options);
    if (!collectives::is_initialized()) open_group(rank);
    group_barrier();
    // The address tells which rank serves.
    const bool serves = by_tcp && rank.rank() == 0;
    const char* const why = serves ? "has failed to listen on any local" : "is already initialized";
    DISTRUN_EXPECT(thrown_by([&] { start_rpc(rank, options); }) == an_error("RuntimeError", why));
    rpc::shutdown();
    DISTRUN_EXPECT(!rpc::is_initialized());
  }
}

DISTRUN_TEST(RpcTest, shutdown_followed_by_rpc) {
  rank.barrier("all have begun");
  start_rpc(rank);
  DISTRUN_EXPECT(what_differs(add_at_next(rank), square(n_of(rank), 2)) == "");
  rpc::shutdown();
  const Thrown thrown = thrown_by([&] { add_at_next(rank); });
  DISTRUN_EXPECT(thrown == an_error("RuntimeError", "RPC has not been initialized"));
  DISTRUN_EXPECT(thrown.text.find("RPC has not been initialized") == 0u);
}

DISTRUN_TEST(RpcTest, local_shutdown) {
  rank.barrier("all have begun");
  start_rpc(rank);
  rpc::shutdown({.graceful = false});
  DISTRUN_EXPECT(!rpc::is_initialized());
}

DISTRUN_TEST(RpcTest, local_shutdown_with_rpc) {
  rank.barrier("all have begun");
  start_rpc(rank);
  DISTRUN_EXPECT(what_differs(add_at_next(rank), square(n_of(rank), 2)) == "");
  open_group(rank);
  group_barrier();
  rpc::shutdown({.graceful = false});
  DISTRUN_EXPECT(!rpc::is_initialized());
}

DISTRUN_TEST(RpcTest, init_pg_then_rpc, .skip = {skip_if(meets_by_tcp, kByFile)}) {
  rank.barrier("all have begun");
  open_group(rank);
  start_rpc(rank);
  expect_sum_and_end(rank);
}

DISTRUN_TEST(RpcTest, init_rpc_then_pg, .skip = {skip_if(meets_by_tcp, kByFile)}) {
  rank.barrier("all have begun");
  start_rpc(rank);
  open_group(rank);
  expect_sum_and_end(rank);
}

DISTRUN_TEST(RpcTest, init_rpc_twice, .skip = {skip_if(meets_by_tcp, kByFile)}) {
  rank.barrier("all have begun");
  open_group(rank);
  start_rpc(rank);
  rpc::shutdown();
  group_barrier();
  start_rpc(rank, rpc_options(rank, "init_2"));
  const Tensor sum = rpc_sync<Tensor>(next_worker(rank), "add", square(2), 1);
  DISTRUN_EXPECT(what_differs(sum, square(2, 2)) == "");
  DISTRUN_EXPECT(what_differs(rpc_sync(next_worker(rank), foo_add), full({1}, 2)) == "");
  rpc::shutdown();
}

DISTRUN_TEST(RpcTest, dist_init_decorator) {
  rank.note("rows", "[row:rpc_init/dist_init-after-the-body]");
  rank.barrier("all have begun");
  const auto body_of = [](bool is_up) {
    return [is_up] {
      DISTRUN_EXPECT(rpc::is_initialized() == is_up);
      return std::string("expected result");
    };
  };
  DISTRUN_EXPECT(with_rpc(rank, {.setup_rpc = false}, body_of(false)) == "expected result");
  DISTRUN_EXPECT(with_rpc(rank, {.setup_rpc = true}, body_of(true)) == "expected result");
  DISTRUN_EXPECT(!rpc::is_initialized());
}
