#pragma once
// Contexts for users:
//
//   {
//     const dist_autograd::ContextScope context;
//     const Tensor there = rpc_sync<Tensor>("worker1", "add", a, b);
//     dist_autograd::backward(context.id(), {sum(there)});
//     const Tensor gradient = dist_autograd::get_gradients(context.id()).at(a);
//   }
//
// Calls made by a thread with a context belong to it, and so do calls made by their callees. Gradients are stored in
// the context: grad() of leaves is unchanged. At the end of the scope the context is released, here and at every worker
// that its calls have reached, even if messages are lost; its late messages are ignored.
//
// An id has the worker that opened the context in its highest 16 bits, and a count below.
#include <memory>

#include <distrun/common/base/location.hpp>
#include <distrun/runtime/dist_autograd/context.hpp>

namespace distrun::dist_autograd {

// A context for a scope: calls that the thread makes in it belong to the context, which its destructor releases. Create
// and destroy it on one thread.
class ContextScope {
 public:
  // Throws Error{Failed, "RuntimeError"}: "Already have an autograd context id for this thread: 7", or that RPC has not
  // been initialized.
  explicit ContextScope(base::Location site = base::Location::here());
  ~ContextScope();
  ContextScope(const ContextScope&) = delete;
  ContextScope& operator=(const ContextScope&) = delete;

  ContextId id() const noexcept { return id_; }  // the same on all workers

 private:
  ContextId id_;
};

// Opens a context without a scope: it is the calling thread's until release_context(). Throws as ContextScope.
std::shared_ptr<Context> new_context(base::Location site = base::Location::here());
// Returns the calling thread's. Throws Error{Failed, "RuntimeError"}: "Current thread doesn't have a valid autograd
// context. ...".
std::shared_ptr<Context> current_context(base::Location site = base::Location::here());
// Returns whether the calling thread has one.
bool has_current_context() noexcept;
// Throws Error{Failed, "RuntimeError"}: "Could not find autograd context with id: 7".
std::shared_ptr<Context> retrieve_context(ContextId id, base::Location site = base::Location::here());
// Releases it here and at all workers that know it. Throws as retrieve_context().
void release_context(ContextId id, base::Location site = base::Location::here());
// Returns the last id that this worker can assign.
ContextId max_id(base::Location site = base::Location::here());

// Returns the gradients of this worker's leaves that have arrived so far; the calling thread's current streams wait for
// them. Throws as retrieve_context().
GradientsOfLeaves get_gradients(ContextId id, base::Location site = base::Location::here());

}  // namespace distrun::dist_autograd
