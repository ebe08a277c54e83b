#include <agents/pipe/backend.hpp>

#include <algorithm>

#include <agents/pipe/pipe_agent.hpp>
#include <agents/pipe/transports/cma.hpp>
#include <distrun/common/base/error.hpp>
#include <distrun/runtime/core/hosts.hpp>

namespace distrun::agents::pipe {
namespace {

const std::vector<std::string> kTransports{"shm", "uds", "tcp"}, kChannels{"inline", "ring", "cma"};

bool has(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

void check(const std::vector<std::string>& names, const std::vector<std::string>& known, const char* what) {
  for (const std::string& each : names) {
    if (has(known, each)) continue;
    std::string text = std::string("Unknown ") + what + ": " + each + "; there are";
    for (const std::string& name : known) text += " " + name;
    throw Error(ErrorKind::InvalidArgument, text);
  }
}

// Returns the test's choice, or the run's, or all, fastest first. PyTorch's name of TCP is "uv".
std::vector<std::string> transports_of(const rpc::PipeOptions& options) {
  std::vector<std::string> named = options.transports;
  std::replace(named.begin(), named.end(), std::string("uv"), std::string("tcp"));
  check(named, kTransports, "transport");
  if (!named.empty()) return named;
  const std::string run = rpc::run_transport();
  return run == "best" ? kTransports : std::vector<std::string>{run};
}

std::vector<Offer> offers_of(const std::vector<std::string>& transports) {
  std::vector<Offer> offers;
  for (const std::string& each : transports) offers.push_back({each, each == "tcp" ? "" : machine_descriptor(), ""});
  return offers;
}

}  // namespace

std::shared_ptr<rpc::Agent> make_pipe_agent(const rpc::AgentSetting& setting, const rpc::PipeOptions& options) {
  check(options.channels, kChannels, "channel");
  const std::vector<std::string> transports = transports_of(options);
  PipeSetting made{setting.worker, setting.world_size == 0, {}, "", true, setting.timeout, options.num_worker_threads};
  made.identity.secret = setting.secret;
  made.identity.worker = setting.worker.name();
  made.identity.id = setting.worker.id();
  made.identity.incarnation = setting.worker.incarnation();
  made.identity.transports = offers_of(transports);
  if (options.channels.empty() || has(options.channels, "cma")) made.identity.channels.push_back(cma_offer());
  made.tcp_host = has(transports, "tcp") ? core::hosts().address() : "";
  made.has_uds = transports != std::vector<std::string>{"tcp"};
  return std::make_shared<PipeAgent>(std::move(made));
}

}  // namespace distrun::agents::pipe
