#include "struck_agent.hpp"

#include <agents/pipe/backend.hpp>
#include <distrun/common/base/error.hpp>
#include <distrun/runtime/future/handler_pool.hpp>

namespace distrun::rpc::testing {
namespace {

void reach(Step step) {
  if (script().reach) script().reach(step);
}

class StruckAgent final : public Agent, private Receiver {
 public:
  explicit StruckAgent(std::shared_ptr<Agent> agent) : agent_(std::move(agent)) {}

  const WorkerInfo& worker_info() const noexcept override { return agent_->worker_info(); }
  std::vector<WorkerInfo> worker_infos() const override { return agent_->worker_infos(); }
  std::string address() const override {
    reach(Step::Address);
    return script().address.empty() ? agent_->address() : script().address;
  }
  void add_worker(const WorkerRecord& record) override {
    reach(Step::AddWorker);
    agent_->add_worker(record);
  }
  void remove_worker(WorkerKey worker) noexcept override { agent_->remove_worker(worker); }
  bool is_gone(const WorkerRecord& record) const override { return agent_->is_gone(record); }
  void start(Receiver& receiver) override {
    reach(Step::Start);
    receiver_ = &receiver;
    agent_->start(static_cast<Receiver&>(*this));
  }
  void send(WorkerKey to, Message message, Urgency urgency) override {
    reach(Step::Send);
    agent_->send(to, std::move(message), urgency);
  }
  bool has_room(WorkerKey to) const noexcept override { return agent_->has_room(to); }
  void look_after(WorkerKey peer) noexcept override { agent_->look_after(peer); }
  std::shared_ptr<future::Progress> progress() const noexcept override { return agent_->progress(); }
  void set_end(const std::string& why, int because_of) noexcept override { agent_->set_end(why, because_of); }
  void close(base::Nanoseconds limit) noexcept override { agent_->close(limit); }
  std::map<std::string, std::string> debug_info() const override { return agent_->debug_info(); }

 private:
  std::unique_ptr<future::HandlerTask> receive(const WorkerInfo& from, Message message) noexcept override {
    reach(Step::Receive);
    return receiver_->receive(from, std::move(message));
  }
  void lose(const WorkerInfo& peer, const base::Error& why) noexcept override { receiver_->lose(peer, why); }

  const std::shared_ptr<Agent> agent_;
  Receiver* receiver_ = nullptr;
};

}  // namespace

Script& script() {
  static Script script;
  return script;
}

Backend struck_backend() {
  static const Backend backend = register_backend({
      .name = "struck",
      .takes = [](const RpcBackendOptions& options) { return dynamic_cast<const PipeOptions*>(&options) != nullptr; },
      .make_options = [] { return std::make_unique<PipeOptions>(); },
      .make_agent = [](const AgentSetting& setting, const RpcBackendOptions& options) -> std::shared_ptr<Agent> {
        reach(Step::Make);
        return std::make_shared<StruckAgent>(
            agents::pipe::make_pipe_agent(setting, dynamic_cast<const PipeOptions&>(options)));
      },
      .make_met_agent = {},
  });
  return backend;
}

}  // namespace distrun::rpc::testing
