#pragma once
// The contract of every agent. The cases are in *_contract.cpp; each agent has a separate binary with one more source,
// which creates it. process_contract.cpp has the cases of agents for workers in several processes.
#include <memory>
#include <string>
#include <vector>

#include <distrun/runtime/rpc/session/backends.hpp>

#include "inbox.hpp"

namespace distrun::rpc {

// Creates an agent for the rank bound to the calling thread.
std::shared_ptr<Agent> make_agent(const AgentSetting& setting);

namespace testing {

AgentSetting setting_of(WorkerId id, int world_size);

// A worker of a case: its rank, its agent, and the messages that it received. The destructor closes the agent and
// checks that it broke no rule.
class Worker {
 public:
  explicit Worker(const AgentSetting& setting);
  Worker(const AgentSetting& setting, core::RankState& rank);
  Worker(WorkerId id, int world_size) : Worker(setting_of(id, world_size)) {}
  ~Worker();
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  core::RankState& rank() const noexcept { return rank_; }
  Agent& agent() const noexcept { return *agent_; }
  const std::shared_ptr<Agent>& shared_agent() const noexcept { return agent_; }
  Inbox& inbox() noexcept { return inbox_; }
  WorkerRecord record() const { return {agent_->worker_info(), agent_->address()}; }
  void send(WorkerId to, Message message) { agent_->send(to, std::move(message), Urgency::Later); }
  void close(base::Nanoseconds limit = std::chrono::seconds(10)) noexcept;

 private:
  core::RankState& rank_;
  std::shared_ptr<Agent> agent_;
  Inbox inbox_;
};

// Workers of one process that know each other.
class World {
 public:
  explicit World(int size);
  Worker& operator[](int id) { return *workers_[static_cast<std::size_t>(id)]; }
  // Replaces a worker by another one, which all others get to know.
  void replace(int id);

 private:
  std::vector<std::unique_ptr<Worker>> workers_;
};

// Returns a message that its id identifies.
Message message_of(std::uint64_t id, std::size_t payload_size, TensorList tensors = {});
// Returns the error in a message, apart from its tensors; empty: none.
std::string what_is_wrong(const Message& got, std::uint64_t id, std::size_t payload_size);

// Sends until the send reports that the worker is gone; returns that text, or "" if it takes too long.
std::string why_gone(Worker& from, WorkerId to);

}  // namespace testing
}  // namespace distrun::rpc
