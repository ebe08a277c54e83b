#pragma once
// Steps of a session that a test may replace, for example with failing ones.
#include <functional>
#include <memory>

#include <distrun/runtime/rpc/agent.hpp>

namespace distrun::rpc {

// Hooks of the calling thread's rank. Empty: the step is not replaced.
struct SessionHooks {
  std::function<void(double timeout)> wait_all_workers;  // seconds; 0: no limit
  std::function<void()> delete_references;               // "delete all user and unforked owner RRefs"
  std::function<void()> after_broadcast;  // on a follower, in the leader's call, after it has received the gathered map
  std::function<void()> start_autograd;   // before the agent is created
  std::function<void(std::shared_ptr<Agent>)> use_agent;  // sets and starts it
};
// Replaces the rank's hooks within a scope.
class UseHooks {
 public:
  // The destructor restores the former hooks.
  explicit UseHooks(SessionHooks hooks);
  ~UseHooks();
  UseHooks(const UseHooks&) = delete;
  UseHooks& operator=(const UseHooks&) = delete;

 private:
  SessionHooks before_;
};

}  // namespace distrun::rpc
