#include <agents/faulty/backend.hpp>

#include <agents/faulty/faulty_agent.hpp>
#include <distrun/runtime/core/rank_state.hpp>

namespace distrun::agents::faulty {
namespace {

rpc::PipeOptions options_before(const rpc::RpcBackendOptions& options) {
  if (const auto* const faulty = dynamic_cast<const rpc::FaultyOptions*>(&options)) {
    rpc::PipeOptions made(faulty->num_worker_threads, faulty->rpc_timeout, faulty->init_method);
    made.transports = faulty->transports;
    return made;
  }
  return dynamic_cast<const rpc::PipeOptions&>(options);
}

// A rank that is a thread has its own RankState, apart from the process's.
std::string agent_before(const rpc::PipeOptions& options) {
  const bool is_thread = &core::rank_state() != &core::process_rank_state();
  return is_thread && options.transports.empty() && rpc::run_transport() == "best" ? "inproc" : "pipe";
}

wire::FaultPlan plan_of(const rpc::RpcBackendOptions& options) {
  const auto* const faulty = dynamic_cast<const rpc::FaultyOptions*>(&options);
  const std::string text = faulty != nullptr ? faulty->plan() : rpc::run_faults();
  return text.empty() ? wire::FaultPlan() : wire::parse_fault_plan("the plan of faults", text);
}

}  // namespace

std::shared_ptr<rpc::Agent> make_faulty_agent(const rpc::AgentSetting& setting, const rpc::RpcBackendOptions& options) {
  wire::FaultPlan plan = plan_of(options);
  const rpc::PipeOptions before = options_before(options);
  return std::make_shared<FaultyAgent>(rpc::find_backend(agent_before(before)).info().make_agent(setting, before),
                                       std::move(plan));
}

}  // namespace distrun::agents::faulty
