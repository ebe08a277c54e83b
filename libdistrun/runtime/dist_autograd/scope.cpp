#include <distrun/runtime/dist_autograd/scope.hpp>

#include <distrun/common/base/error.hpp>
#include <distrun/runtime/core/thread_state.hpp>
#include <distrun/runtime/dist_autograd/contexts.hpp>

namespace distrun::dist_autograd {
namespace {

ContextId& of_thread() noexcept { return core::thread_state().autograd_context; }

}  // namespace

std::shared_ptr<Context> new_context(base::Location site) {
  const auto contexts = current_contexts(site);
  if (of_thread() != rpc::kNoContext && contexts->find(of_thread()) != nullptr) {
    throw Error(ErrorKind::Failed, "RuntimeError",
                "Already have an autograd context id for this thread: " + std::to_string(of_thread()), site);
  }
  std::shared_ptr<Context> context = contexts->make();
  of_thread() = context->context_id();
  return context;
}

// Its opener may have released it meanwhile.
bool has_current_context() noexcept {
  if (of_thread() == rpc::kNoContext) return false;
  const auto contexts = find_contexts();
  return contexts != nullptr && contexts->find(of_thread()) != nullptr;
}

std::shared_ptr<Context> current_context(base::Location site) {
  rpc::refuse_forked(site);
  if (has_current_context()) return retrieve_context(of_thread(), site);
  throw Error(ErrorKind::Failed, "RuntimeError",
              "Current thread doesn't have a valid autograd context. Please wrap your code using: a "
              "dist_autograd::ContextScope, to generate a valid context",
              site);
}

std::shared_ptr<Context> retrieve_context(ContextId id, base::Location site) {
  return current_contexts(site)->get(id, site);
}

void release_context(ContextId id, base::Location site) {
  const auto contexts = current_contexts(site);
  contexts->get(id, site);
  if (of_thread() == id) of_thread() = rpc::kNoContext;
  contexts->release(id, contexts->self());
}

ContextId max_id(base::Location site) { return current_contexts(site)->max_id(); }

GradientsOfLeaves get_gradients(ContextId id, base::Location site) {
  return GradientsOfLeaves(retrieve_context(id, site)->gradients().entries());
}

ContextScope::ContextScope(base::Location site) : id_(new_context(site)->context_id()) {}

// The session, and the context with it, may be over by now.
ContextScope::~ContextScope() {
  if (of_thread() == id_) of_thread() = rpc::kNoContext;
  if (const auto contexts = find_contexts()) contexts->release(id_, contexts->self());
}

}  // namespace distrun::dist_autograd
