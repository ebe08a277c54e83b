#pragma once
// A worker that is a process of its own.
#include <sys/types.h>

#include <string>

#include "agent_contract.hpp"

namespace distrun::rpc::testing {

// Knows one other worker, and sends back what that one sends, as Reply, until it is gone. Is killed by the destructor.
class ChildWorker {
 public:
  // Forks, so before the process has threads.
  explicit ChildWorker(WorkerId id);
  ~ChildWorker();
  ChildWorker(const ChildWorker&) = delete;
  ChildWorker& operator=(const ChildWorker&) = delete;

  // Each gets to know the other.
  void meet(Worker& parent);
  // SIGSTOP has stopped all of its threads when this returns.
  void signal(int number) const;

 private:
  [[noreturn]] void serve() const;

  const AgentSetting setting_;
  pid_t pid_ = -1;
  int ours_ = -1;    // ends of a pair of sockets: the parent's
  int theirs_ = -1;  // and the child's
};

}  // namespace distrun::rpc::testing
