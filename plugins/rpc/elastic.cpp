// Groups that workers join one by one.
#include "suites.hpp"

#include <cstdlib>

using namespace distrun;
using namespace distrun::suites;

namespace {

Tensor add_ones_at(const std::string& worker) {
  return rpc_sync<Tensor>(worker, "add", scalar_tensor(1), scalar_tensor(1));
}

Thrown error_of_init(const Rank& rank, const std::string& address) {
  const auto options = rpc_options(rank);
  options->store = nullptr;  // which would count instead of the address
  options->init_method = address;
  return thrown_by([&] {
    rpc::init_rpc({.name = std::string(rank.worker_name()),
                   .backend = agent_backend(rank),
                   .rank = {},
                   .world_size = {},
                   .options = options});
  });
}

}  // namespace

DISTRUN_SUITE(TensorPipeAgentRpcTest, .world_size = fixed(4));

DISTRUN_TEST(TensorPipeAgentRpcTest, dynamic_rpc_init_rpc) {
  join_rpc(rank);
  DISTRUN_EXPECT(rpc::is_initialized());
  rpc::shutdown();
  DISTRUN_EXPECT(!rpc::is_initialized());
}

DISTRUN_TEST(TensorPipeAgentRpcTest, dynamic_rpc_new_rank_can_communicated_with_existing_rank) {
  open_group(rank);
  if (rank.rank() == 0) join_rpc(rank);
  group_barrier();
  if (rank.rank() != 0) {
    join_rpc(rank);
    DISTRUN_EXPECT(what_differs(add_ones_at("worker0"), scalar_tensor(2)) == "");
  }
  group_barrier();
  DISTRUN_EXPECT(rpc::is_initialized());
  rpc::shutdown();
}

DISTRUN_TEST(TensorPipeAgentRpcTest, dynamic_rpc_existing_rank_can_communicate_with_new_rank) {
  open_group(rank);
  if (rank.rank() == 0) join_rpc(rank);
  group_barrier();
  if (rank.rank() != 0) join_rpc(rank);
  group_barrier();
  DISTRUN_EXPECT(rpc::get_worker_infos().size() == 4u);
  if (rank.rank() == 0) {
    for (int other = 1; other < rank.world_size(); ++other) {
      DISTRUN_EXPECT(what_differs(add_ones_at(rank.worker_name(other)), scalar_tensor(2)) == "");
    }
  }
  group_barrier();
  rpc::shutdown();
}

DISTRUN_TEST(TensorPipeAgentRpcTest, dynamic_rpc_init_rpc_without_rank) {
  DISTRUN_REQUIRE(std::getenv("RANK") == nullptr);
  DISTRUN_EXPECT(error_of_init(rank, rpc_address(rank)) == an_error("ValueError", "rank parameter missing"));
  DISTRUN_EXPECT(!rpc::is_initialized());
  DISTRUN_EXPECT(error_of_init(rank, "env://") == an_error("ValueError", "environment variable RANK expected"));
  DISTRUN_EXPECT(!rpc::is_initialized());
  DISTRUN_EXPECT(error_of_init(rank, "tcp://127.0.0.1:23456") == an_error("ValueError", "rank parameter missing"));
  DISTRUN_EXPECT(!rpc::is_initialized());
}

// The session is left open: the end of the test closes it.
DISTRUN_TEST(TensorPipeAgentRpcTest, dynamic_and_static_init_rpc_together) {
  open_group(rank);
  const int last = rank.world_size() - 1;
  if (rank.rank() != last) {
    rpc::init_rpc({.name = std::string(rank.worker_name()),
                   .backend = agent_backend(rank),
                   .rank = rank.rank(),
                   .world_size = last,
                   .options = rpc_options(rank)});
    DISTRUN_EXPECT(rpc::is_initialized());
  }
  group_barrier();
  if (rank.rank() == last) {
    DISTRUN_EXPECT(thrown_by([&] { join_rpc(rank); }) ==
                   an_error("RuntimeError",
                            "RPC group mixes statically and dynamically initialized members which is not supported."));
    DISTRUN_EXPECT(!rpc::is_initialized());
  }
  group_barrier();
}
