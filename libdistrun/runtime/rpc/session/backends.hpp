#pragma once
// The agents that there are, by name. A test may add one of its own.
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <distrun/runtime/rpc/agent.hpp>
#include <distrun/runtime/rpc/session/options.hpp>

namespace distrun::rpc {

// What an agent is made for.
struct AgentSetting {
  WorkerInfo worker;
  int world_size = 0;           // 0: workers come and go
  std::string secret;           // of the session: whoever can't show it is nobody's peer
  base::Nanoseconds timeout{};  // of what has to be waited for while workers meet
};

struct BackendInfo {
  std::string name;
  // Whether options are this backend's. Empty: it takes any, and is nobody's by its options alone.
  std::function<bool(const RpcBackendOptions&)> takes;
  std::function<std::unique_ptr<RpcBackendOptions>()> make_options;  // empty: those that all have
  std::function<std::shared_ptr<Agent>(const AgentSetting&, const RpcBackendOptions&)> make_agent;
  // Instead, of one that meets its peers by itself: the session only asks it for its workers.
  std::function<std::shared_ptr<Agent>(Store&, const std::string& name, int rank, int world_size,
                                       const RpcBackendOptions&)>
      make_met_agent;
};

// A member of BackendType, as the reference calls it: only register_backend() and find_backend() make one.
class Backend {
 public:
  const std::string& name() const noexcept { return info_->name; }
  const BackendInfo& info() const noexcept { return *info_; }
  bool takes(const RpcBackendOptions& options) const;

 private:
  friend Backend register_backend(BackendInfo info);
  friend Backend find_backend(const std::string& name);
  friend std::vector<Backend> backends();
  explicit Backend(std::shared_ptr<const BackendInfo> info) : info_(std::move(info)) {}
  std::shared_ptr<const BackendInfo> info_;
};

// Any thread. Throws Error{InvalidArgument}: "RPC backend X: already registered".
Backend register_backend(BackendInfo info);
// Throws Error{InvalidArgument} with those that there are. "pipe", "inproc", "faulty"; "TENSORPIPE" is the pipe, and
// "FAULTY_TENSORPIPE" faulty.
Backend find_backend(const std::string& name);
std::vector<Backend> backends();
// The name of the one that --agent names; "pipe" outside of a run.
std::string default_backend();
// The one whose options they are. Throws Error{InvalidArgument, "TypeError"}: "Could not infer backend for options".
Backend backend_of(const RpcBackendOptions& options);

}  // namespace distrun::rpc
