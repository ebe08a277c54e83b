#pragma once
// Contexts, as users open them:
//
//   {
//     const dist_autograd::ContextScope context;
//     const Tensor there = rpc_sync<Tensor>("worker1", "add", a, b);
//     dist_autograd::backward(context.id(), {sum(there)});
//     const Tensor gradient = dist_autograd::get_gradients(context.id()).at(a);
//   }
//
// Calls that a thread makes while it has a context belong to it, and so does what their callees call. Gradients are the
// context's: grad() of leaves stays as it is. At the end of the scope the context goes, here and at every worker that a
// call of it has reached, however messages are lost; what belongs to it and comes later is no part of any.
//
// An id has the worker that has opened the context in its highest 16 bits, and a count below.
#include <memory>

#include <distrun/common/base/location.hpp>
#include <distrun/runtime/dist_autograd/context.hpp>

namespace distrun::dist_autograd {

class ContextScope {
 public:
  // Throws Error{Failed, "RuntimeError"}: "Already have an autograd context id for this thread: 7", or that RPC has not
  // been initialized.
  explicit ContextScope(base::Location site = base::Location::here());
  ~ContextScope();
  ContextScope(const ContextScope&) = delete;
  ContextScope& operator=(const ContextScope&) = delete;

  ContextId id() const noexcept { return id_; }

 private:
  ContextId id_;
};

// Without a scope: it is the calling thread's until release_context(). Throws as ContextScope.
std::shared_ptr<Context> new_context(base::Location site = base::Location::here());
// Of the calling thread. Throws Error{Failed, "RuntimeError"}: "Current thread doesn't have a valid autograd context.
// ...".
std::shared_ptr<Context> current_context(base::Location site = base::Location::here());
bool has_current_context() noexcept;
// Throws Error{Failed, "RuntimeError"}: "Could not find autograd context with id: 7".
std::shared_ptr<Context> retrieve_context(ContextId id, base::Location site = base::Location::here());
// Here, and at all that know of it. Throws as retrieve_context().
void release_context(ContextId id, base::Location site = base::Location::here());
// The last id that this worker can give.
ContextId max_id(base::Location site = base::Location::here());

// Of this worker's leaves, all that came so far; the calling thread's current streams wait for them. Throws as
// retrieve_context().
GradientsOfLeaves get_gradients(ContextId id, base::Location site = base::Location::here());

}  // namespace distrun::dist_autograd
