#pragma once
// An agent of worker0 that sends and delivers nothing; tests override what they need.
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <distrun/runtime/rpc/agent.hpp>

namespace distrun::rpc {

class QuietAgent : public Agent {
 public:
  const WorkerInfo& worker_info() const noexcept override { return self_; }
  std::vector<WorkerInfo> worker_infos() const override { return {self_}; }
  std::string address() const override { return "nowhere"; }
  void add_worker(const WorkerRecord&) override {}
  void remove_worker(WorkerKey) noexcept override {}
  void start(Receiver&) override {}
  void send(WorkerKey, Message, Urgency) override {}
  std::shared_ptr<future::Progress> progress() const noexcept override { return nullptr; }
  void close(base::Nanoseconds) noexcept override {}
  std::map<std::string, std::string> debug_info() const override { return {}; }

 protected:
  const WorkerInfo self_{"worker0", 0};
};

}  // namespace distrun::rpc
