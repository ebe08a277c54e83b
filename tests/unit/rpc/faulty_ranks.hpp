#pragma once
// Ranks that are threads, with agents that apply a plan of faults to messages (common/wire/fault_plan.hpp).
#include <agents/faulty/faulty_agent.hpp>

#include "session_ranks.hpp"

namespace distrun::rpc {

inline Backend faulty_backend() {
  static const Backend backend = register_backend(
      {"faulty threads of a test",
       [](const RpcBackendOptions& options) { return dynamic_cast<const FaultyOptions*>(&options) != nullptr; },
       [] { return std::make_unique<FaultyOptions>(); },
       [](const AgentSetting& setting, const RpcBackendOptions& options) -> std::shared_ptr<Agent> {
         const auto& faulty = dynamic_cast<const FaultyOptions&>(options);
         return std::make_shared<agents::faulty::FaultyAgent>(std::make_shared<agents::inproc::InprocAgent>(setting),
                                                              wire::parse_fault_plan("faults", faulty.faults));
       },
       {}});
  return backend;
}

// `faults`: "7:drop:retriable:0.1".
inline InitOptions faulty_options(const Ranks& ranks, int rank, const std::string& faults) {
  auto options = std::make_shared<FaultyOptions>();
  options->store = ranks.store();
  options->faults = faults;
  InitOptions init = ranks.options(rank);
  init.backend = faulty_backend();
  init.options = std::move(options);
  return init;
}

}  // namespace distrun::rpc
