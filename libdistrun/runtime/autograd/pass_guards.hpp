#pragma once
// What holds for a thread while it runs nodes of a pass, and ends with a scope: the pass, how deep passes are nested,
// and that a hook sees the node. For graph_task.cpp.
#include <string>
#include <utility>
#include <vector>

#include <distrun/runtime/autograd/anomaly.hpp>
#include <distrun/runtime/autograd/node.hpp>
#include <distrun/runtime/autograd/scope.hpp>
#include <distrun/runtime/core/call_site.hpp>

namespace distrun::autograd {

class GraphTask;

// A node may run a pass of its own, and so on: how many passes the calling thread is within. Every so many of them get
// a thread, and so a stack, of their own.
class NestingGuard {
 public:
  explicit NestingGuard(std::uint32_t nesting) noexcept : before_(std::exchange(nesting_, nesting)) {}
  ~NestingGuard() { nesting_ = before_; }
  NestingGuard(const NestingGuard&) = delete;
  NestingGuard& operator=(const NestingGuard&) = delete;
  static std::uint32_t of_thread() noexcept { return nesting_; }

 private:
  static constinit inline thread_local std::uint32_t nesting_ = 0;
  const std::uint32_t before_;
};

// Whose nodes the calling thread runs.
class TaskGuard {
 public:
  explicit TaskGuard(GraphTask& task) noexcept : before_(std::exchange(task_, &task)) {}
  ~TaskGuard() { task_ = before_; }
  TaskGuard(const TaskGuard&) = delete;
  TaskGuard& operator=(const TaskGuard&) = delete;
  static GraphTask* of_thread() noexcept { return task_; }  // null: none

 private:
  static constinit inline thread_local GraphTask* task_ = nullptr;
  GraphTask* const before_;
};

// Work in it is the node's, in the pass that somebody has begun: for reports.
class StepGuard {
 public:
  StepGuard(const Node& node, const core::CallStack* beginner) noexcept : step_(beginner, &node, name_of) {}

 private:
  static std::string name_of(const void* node) { return name_with_site(*static_cast<const Node*>(node)); }
  const core::StepFor step_;
};

// The scope hook, around a node.
class NodeScope {
 public:
  NodeScope(const Node& node, const Gradients& gradients) : hook_(detail::scope_hook.load(std::memory_order_acquire)) {
    if (hook_ == nullptr) return;
    const std::string name = node.name();
    std::vector<const Tensor*> inputs;
    for (const Tensor& gradient : gradients) inputs.push_back(&gradient);
    entered_ = hook_->enter({ScopeKind::Node, name, node.sequence(), node.thread(), inputs});
  }
  ~NodeScope() {
    if (hook_ != nullptr) hook_->leave(entered_);
  }
  NodeScope(const NodeScope&) = delete;
  NodeScope& operator=(const NodeScope&) = delete;

 private:
  ScopeHook* const hook_;
  void* entered_ = nullptr;
};

}  // namespace distrun::autograd
