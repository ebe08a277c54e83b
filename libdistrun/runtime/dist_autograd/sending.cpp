// The work of SendNode and RecvNode in a pass.
#include <distrun/runtime/dist_autograd/message_nodes.hpp>

#include <distrun/common/base/error.hpp>
#include <distrun/runtime/dist_autograd/pass.hpp>
#include <distrun/runtime/profiler/span.hpp>

namespace distrun::dist_autograd {

Gradients SendNode::apply(Gradients gradients) {
  const profiler::Span span("torch::distributed::autograd::SendRpcBackward");
  return gradients;
}

Gradients RecvNode::apply(Gradients gradients) {
  const profiler::Span span("torch::distributed::autograd::RecvRpcBackward");
  Pass* const pass = Pass::current();
  if (pass == nullptr) {
    throw Error(ErrorKind::Failed, "RuntimeError",
                "a plain backward pass has reached a result of another worker; use dist_autograd::backward(), which "
                "continues there");
  }
  pass->send(*this, std::move(gradients));
  return {};
}

}  // namespace distrun::dist_autograd
