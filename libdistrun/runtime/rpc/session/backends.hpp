#pragma once
// The available agents, by name. A test may register another one.
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <distrun/runtime/rpc/agent.hpp>
#include <distrun/runtime/rpc/session/options.hpp>

namespace distrun::rpc {

// The arguments for creating an agent.
struct AgentSetting {
  WorkerInfo worker;            // this one
  int world_size = 0;           // 0: workers join and leave at any time
  std::string secret;           // of the session; workers that cannot prove that they know it are rejected
  base::Nanoseconds timeout{};  // limit for each wait while workers meet
};

// An agent as register_backend() takes it.
struct BackendInfo {
  std::string name;  // as users write it
  // Returns whether the options are of this backend's type. Empty: it accepts any, and is never inferred from options.
  std::function<bool(const RpcBackendOptions&)> takes;
  std::function<std::unique_ptr<RpcBackendOptions>()> make_options;  // empty: creates RpcBackendOptions
  // Creates an agent, which the session connects to its peers.
  std::function<std::shared_ptr<Agent>(const AgentSetting&, const RpcBackendOptions&)> make_agent;
  // Alternative for an agent that meets its peers by itself: the session only asks it for its workers.
  std::function<std::shared_ptr<Agent>(Store&, const std::string& name, int rank, int world_size,
                                       const RpcBackendOptions&)>
      make_met_agent;
};

// A member of PyTorch's BackendType. Only register_backend() and find_backend() create one.
class Backend {
 public:
  const std::string& name() const noexcept { return info_->name; }  // as registered
  const BackendInfo& info() const noexcept { return *info_; }       // as registered
  bool takes(const RpcBackendOptions& options) const;               // the options are of its type

 private:
  friend Backend register_backend(BackendInfo info);
  friend Backend find_backend(const std::string& name);
  friend std::vector<Backend> backends();
  explicit Backend(std::shared_ptr<const BackendInfo> info) : info_(std::move(info)) {}
  std::shared_ptr<const BackendInfo> info_;
};

// Thread-safe. Throws Error{InvalidArgument}: "RPC backend X: already registered".
Backend register_backend(BackendInfo info);
// Throws Error{InvalidArgument} that lists the registered backends. Names: "pipe", "inproc", "faulty"; "TENSORPIPE"
// means "pipe", and "FAULTY_TENSORPIPE" means "faulty".
Backend find_backend(const std::string& name);
std::vector<Backend> backends();  // all that are registered
// Returns the name that --agent gives; "pipe" outside of a run.
std::string default_backend();
// Infers the backend from options. Throws Error{InvalidArgument, "TypeError"}: "Could not infer backend for options".
Backend backend_of(const RpcBackendOptions& options);

}  // namespace distrun::rpc
