#pragma once
// The agent for ranks that are threads of one process. Hands messages over without encoding them; only tensors are
// copied. The sender's thread does all the work, so the agent has no threads and nothing to wait for: send() may
// receive messages, for any worker of the process, before it returns.
#include <memory>

#include <agents/inproc/endpoint.hpp>

namespace distrun::agents::inproc {

class InprocAgent final : public rpc::Agent {
 public:
  explicit InprocAgent(const rpc::AgentSetting& setting) : endpoint_(Endpoint::make(setting)) {}
  ~InprocAgent() override { endpoint_->close(); }

  const rpc::WorkerInfo& worker_info() const noexcept override { return endpoint_->worker(); }
  std::vector<rpc::WorkerInfo> worker_infos() const override { return endpoint_->workers(); }
  std::string address() const override { return endpoint_->address(); }
  void add_worker(const rpc::WorkerRecord& record) override { endpoint_->add_worker(record); }
  void remove_worker(rpc::WorkerKey worker) noexcept override { endpoint_->remove_worker(worker); }
  bool is_gone(const rpc::WorkerRecord& record) const noexcept override { return Endpoint::is_gone(record.address); }
  void start(rpc::Receiver& receiver) override { endpoint_->start(receiver); }
  void send(rpc::WorkerKey to, rpc::Message message, rpc::Urgency /*urgency*/) override {
    endpoint_->send(to, std::move(message));
  }
  void look_after(rpc::WorkerKey peer) noexcept override { endpoint_->look_after(peer); }
  bool has_room(rpc::WorkerKey to) const noexcept override { return endpoint_->has_room(to); }
  std::shared_ptr<future::Progress> progress() const noexcept override { return nullptr; }
  void give_up(rpc::WorkerKey peer, const base::Error& why) noexcept override { endpoint_->give_up(peer, why); }
  void set_end(const std::string& why, int because_of) noexcept override { endpoint_->set_end(why, because_of); }
  void close(base::Nanoseconds /*limit*/) noexcept override { endpoint_->close(); }
  bool is_by_hand() const noexcept override { return true; }
  std::map<std::string, std::string> debug_info() const override { return endpoint_->debug_info(); }

 private:
  std::shared_ptr<Endpoint> endpoint_;
};

}  // namespace distrun::agents::inproc
