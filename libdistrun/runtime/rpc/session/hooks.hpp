#pragma once
// Steps of a session that a test may replace, to see what comes of it when they go wrong.
#include <functional>
#include <memory>

#include <distrun/runtime/rpc/agent.hpp>

namespace distrun::rpc {

// Empty: as they are. Of the rank.
struct SessionHooks {
  std::function<void(double timeout)> wait_all_workers;
  std::function<void()> delete_references;  // "delete all user and unforked owner RRefs"
  std::function<void()> after_broadcast;    // at a follower, in the leader's call, when it has what was gathered
  std::function<void()> start_autograd;     // before the agent is made
  std::function<void(std::shared_ptr<Agent>)> use_agent;  // sets and starts it
};
// For a scope.
class UseHooks {
 public:
  explicit UseHooks(SessionHooks hooks);
  ~UseHooks();
  UseHooks(const UseHooks&) = delete;
  UseHooks& operator=(const UseHooks&) = delete;

 private:
  SessionHooks before_;
};

}  // namespace distrun::rpc
