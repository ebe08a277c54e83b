#include <distrun/runtime/rpc/session/session.hpp>

#include <utility>

#include <distrun/common/base/deadline.hpp>
#include <distrun/common/base/error.hpp>
#include <distrun/common/base/if_memory.hpp>
#include <distrun/common/base/nearest.hpp>
#include <distrun/runtime/rpc/session/detail/session_state.hpp>

namespace distrun::rpc {

bool is_initialized() noexcept {
  return base::if_memory([] { return session_state().find() != nullptr; }, [] { return false; });
}
std::shared_ptr<Agent> current_agent() { return session_state().get()->agent; }

WorkerInfo get_worker_info() { return current_agent()->worker_info(); }

WorkerInfo get_worker_info(const std::string& name) {
  const std::shared_ptr<Agent> agent = current_agent();
  std::vector<std::string> known;
  for (const WorkerInfo& each : agent->worker_infos()) {
    if (each.name() == name) return each;
    known.push_back(each.name());
  }
  const WorkerInfo& self = agent->worker_info();
  throw Error(ErrorKind::InvalidArgument, "RuntimeError",
              "name:" + self.name() + ",rank:" + std::to_string(self.id()) + " could not find destination name " +
                  name + base::did_you_mean(name, known));
}

std::vector<WorkerInfo> get_worker_infos() { return current_agent()->worker_infos(); }

double get_rpc_timeout() { return std::chrono::duration<double>(current_calls()->sender().timeout()).count(); }

void set_rpc_timeout(double seconds) {
  if (!(seconds >= 0)) throw Error(ErrorKind::InvalidArgument, "RuntimeError", "RPC Timeout must be non-negative");
  current_calls()->sender().set_timeout(base::nanoseconds_of(seconds));
}

std::map<std::string, std::string> agent_debug_info() {
  const std::shared_ptr<Session> session = session_state().get();
  std::map<std::string, std::string> info = session->agent->debug_info();
  if (session->calls != nullptr) session->calls->add_debug_info(info);
  if (session->worker_threads) info["agent.thread_pool_size"] = std::to_string(*session->worker_threads);
  return info;
}

std::map<std::string, std::string> debug_info() {
  std::map<std::string, std::string> info = agent_debug_info();
  for (const auto& each : session_state().get()->parts) each->add_debug_info(info);
  return info;
}

UseHooks::UseHooks(SessionHooks hooks) : before_(session_state().exchange_hooks(std::move(hooks))) {}
UseHooks::~UseHooks() { session_state().exchange_hooks(std::move(before_)); }

}  // namespace distrun::rpc
