#pragma once
// Creates a handler's task from a lambda: task_of([...] { ... }). The lambda owns what it needs, and must not throw.
#include <memory>
#include <utility>

#include <distrun/runtime/future/handler_pool.hpp>

namespace distrun::rpc {

template <class Body>
class Task final : public future::HandlerTask {
 public:
  explicit Task(Body body) : body_(std::move(body)) {}
  void run() noexcept override { body_(); }

 private:
  Body body_;
};

template <class Body>
std::unique_ptr<future::HandlerTask> task_of(Body body) {
  return std::make_unique<Task<Body>>(std::move(body));
}

}  // namespace distrun::rpc
