#include "rpc_fixture.hpp"

#include <distrun/collectives.hpp>

#include "dist_backend.hpp"
#include "groups.hpp"
#include "rpc_state.hpp"

namespace distrun::suites {

std::string rpc_address(const Rank& rank, const std::string& ending) { return "file://" + group_file(rank) + ending; }

void meet(const Rank& rank, rpc::RpcBackendOptions& options, const std::string& ending) {
  options.store = store_of_hosts(ending);
  options.init_method = options.store == nullptr ? rpc_address(rank, ending) : "";
}

std::shared_ptr<rpc::PipeOptions> rpc_options(const Rank& rank, const std::string& ending) {
  auto options = std::make_shared<rpc::PipeOptions>();
  meet(rank, *options, ending);
  return options;
}

rpc::Backend agent_backend(const Rank& rank) { return rpc::find_backend(std::string(rank.agent())); }

void start_rpc(Rank& rank, std::shared_ptr<const rpc::RpcBackendOptions> options) {
  if (options == nullptr) options = rpc_options(rank);
  rpc::init_rpc({.name = std::string(rank.worker_name()),
                 .backend = agent_backend(rank),
                 .rank = rank.rank(),
                 .world_size = rank.world_size(),
                 .options = std::move(options)});
}

std::shared_ptr<const PortedFaults> faults_of(const Rank& rank, const RpcUse& use) {
  if (!use.is_faulty) return nullptr;
  auto options = std::make_shared<PortedFaults>();
  meet(rank, *options);
  if (use.faulty_messages) options->messages_to_fail = *use.faulty_messages;
  if (use.messages_to_delay) options->messages_to_delay = *use.messages_to_delay;
  options->set_plan();
  return options;
}

void start_rpc(Rank& rank, const RpcUse& use) {
  const auto faults = faults_of(rank, use);
  if (faults == nullptr) return start_rpc(rank);
  rpc::init_rpc({.name = std::string(rank.worker_name()),
                 .backend = rpc::find_backend("FAULTY_TENSORPIPE"),
                 .rank = rank.rank(),
                 .world_size = rank.world_size(),
                 .options = faults});
}

void join_rpc(Rank& rank) {
  rpc::init_rpc({.name = std::string(rank.worker_name()),
                 .backend = agent_backend(rank),
                 .rank = rank.rank(),
                 .world_size = {},
                 .options = rpc_options(rank)});
}

void open_group(Rank& rank) {
  if (collectives::is_initialized()) return;
  collectives::init_process_group({meeting_store(rank), rank.rank(), rank.world_size(), {}});
}
void group_barrier() { default_group()->barrier(); }

void RpcAgentTest::set_up(Rank& rank) {
  renew_state();
  rank.barrier("all have begun");  // the start-up time of ranks does not count against the session's timeout
  start_rpc(rank, make_options(rank));
}

void RpcAgentTest::tear_down(Rank& rank) {
  if (rpc::is_initialized() && !rank.tally().failed()) rpc::shutdown();
}

int next_rank(const Rank& rank, int step) { return (rank.rank() + step) % rank.world_size(); }
std::string next_worker(const Rank& rank, int step) { return rank.worker_name(next_rank(rank, step)); }

}  // namespace distrun::suites
