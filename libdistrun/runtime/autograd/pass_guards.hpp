#pragma once
// Per-thread state while a thread runs nodes of a pass, set for a scope: the pass, the nesting depth of passes, and the
// node for the scope hook. For graph_task.cpp.
#include <string>
#include <utility>
#include <vector>

#include <distrun/runtime/autograd/anomaly.hpp>
#include <distrun/runtime/autograd/node.hpp>
#include <distrun/runtime/autograd/scope.hpp>
#include <distrun/runtime/core/call_site.hpp>

namespace distrun::autograd {

class GraphTask;

// A node may run a nested pass, and so on: counts the passes that the calling thread is within. Every kNestingOfThread
// of them get a separate thread, and so a new stack.
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

// The pass that the calling thread runs nodes of.
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

// Attributes work in this scope to the node, in the pass that `beginner` started: for reports.
class StepGuard {
 public:
  StepGuard(const Node& node, const core::CallStack* beginner) noexcept : step_(beginner, &node, name_of) {}

 private:
  static std::string name_of(const void* node) { return name_with_site(*static_cast<const Node*>(node)); }
  const core::StepFor step_;
};

// Calls the scope hook around a node.
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
