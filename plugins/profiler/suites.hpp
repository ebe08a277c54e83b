#pragma once
// Shared by the profiler's tests. In most of them only worker1 acts, and the others answer it.
#include "support/profiled_callees.hpp"
#include "support/profiles.hpp"
#include "support/rpc_suites.hpp"

class CudaRpcTest : public distrun::suites::RpcAgentTest {};

namespace distrun::suites {

using profiler::Events;
using profiler::Profile;
using profiler::ProfileOptions;

inline constexpr int kActing = 1;
inline constexpr char kRemoteOp[] = "#remote_op: ";

// Returns the events of the body's profile.
template <class Body>
Events recorded(Body body, const ProfileOptions& options = {}) {
  Profile profile(options);
  body();
  profile.end();
  return profile.events();
}

inline bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

// Returns the name that the worker itself would give to a remote event.
inline std::string operator_of(const profiler::Event& event) {
  const std::size_t at = event.name.find(kRemoteOp);
  return at == std::string::npos ? event.name : event.name.substr(at + sizeof(kRemoteOp) - 1);
}

inline std::vector<int> other_ranks(const Rank& rank) {
  std::vector<int> others;
  for (int each = 0; each < rank.world_size(); ++each) {
    if (each != rank.rank()) others.push_back(each);
  }
  return others;
}

}  // namespace distrun::suites
