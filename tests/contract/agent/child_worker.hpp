#pragma once
// A worker in a separate process.
#include <sys/types.h>

#include <string>

#include "agent_contract.hpp"

namespace distrun::rpc::testing {

// Knows one other worker, and echoes its messages as Reply until that worker is gone. Killed by the destructor.
class ChildWorker {
 public:
  // Forks, so call it before the process has threads.
  explicit ChildWorker(WorkerId id);
  ~ChildWorker();
  ChildWorker(const ChildWorker&) = delete;
  ChildWorker& operator=(const ChildWorker&) = delete;

  // Introduces the two workers to each other.
  void meet(Worker& parent);
  // Returns when SIGSTOP has stopped all of its threads.
  void signal(int number) const;

 private:
  [[noreturn]] void serve(pid_t parent) const;

  const AgentSetting setting_;
  pid_t pid_ = -1;
  int ours_ = -1;    // the parent's end of a pair of sockets
  int theirs_ = -1;  // the child's end
};

}  // namespace distrun::rpc::testing
