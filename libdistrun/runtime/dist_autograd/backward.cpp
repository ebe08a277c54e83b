#include <distrun/runtime/dist_autograd/backward.hpp>

#include <algorithm>
#include <utility>

#include <distrun/common/base/deadline.hpp>
#include <distrun/common/base/error.hpp>
#include <distrun/common/base/text.hpp>
#include <distrun/runtime/autograd/backward.hpp>
#include <distrun/runtime/autograd/gradient.hpp>
#include <distrun/runtime/core/wait.hpp>
#include <distrun/runtime/dist_autograd/pass.hpp>
#include <distrun/runtime/profiler/span.hpp>
#include <distrun/runtime/rpc/calls/call.hpp>
#include <distrun/runtime/tensor/core/factories.hpp>

namespace distrun::dist_autograd {
namespace {

using namespace std::chrono_literals;

constexpr base::Nanoseconds kLook = 300ms;  // then the wait shows what is missing

[[noreturn]] void refuse(const std::string& text, base::Location site) {
  throw Error(ErrorKind::InvalidArgument, "RuntimeError", text, site);
}

void check_roots(const TensorList& roots, base::Location site) {
  if (roots.empty()) refuse("No tensors provided for gradient computation.", site);
  for (std::size_t i = 0; i < roots.size(); ++i) {
    const std::string name = "root " + std::to_string(i);
    if (!roots[i].defined()) refuse(name + " is undefined", site);
    if (!requires_grad(roots[i])) refuse("requires_grad not set on root: " + name, site);
    if (roots[i].numel() != 1) {
      refuse(name + " is not a scalar, all roots need to be scalar: it is " + device::to_string(roots[i].sizes()),
             site);
    }
    if (!grad_fn(roots[i])) refuse(name + " does not have a valid gradient function.", site);
  }
}

void find_live(Pass& pass, base::TimePoint deadline, base::Location site) {
  if (pass.settings().mode == Mode::Fast) return pass.expect_all();
  Pass::Live live = pass.expect({});
  if (pass.complete(live)) return pass.tell_with_gradients(std::move(live));
  const auto marked = pass.mark(std::move(live));
  marked.state()->wait(deadline, site);
  marked.wait();
}

// Waits for the pass; shows what is missing if that takes a while.
void wait_for(Pass& pass, base::TimePoint deadline, base::Location site) {
  const auto& state = pass.done().state();
  std::optional<core::Wait> shown;
  while (!state->is_done()) {
    const base::TimePoint now = base::system_clock().now();
    if (now >= deadline) {
      pass.fail(Error(ErrorKind::Timeout, "RuntimeError",
                      "a backward pass did not finish in time: it waits for " + pass.missing(), site));
      deadline = core::kForever;  // it ends as soon as its running nodes have ended
      continue;
    }
    try {
      state->wait(std::min(deadline, now + kLook), site);
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::Timeout) {
        pass.fail(error);
        throw;
      }
    }
    if (state->is_done() || shown) continue;
    const std::string name = pass.missing();
    board::WaitInfo info;
    info.kind = board::WaitKind::Backward;
    info.name = name;
    info.site = site;
    shown.emplace(info, deadline);
  }
}

void run(Pass& pass, const TensorList& roots, base::TimePoint deadline, base::Location site) {
  try {
    for (const Tensor& root : roots) pass.add_root(autograd::gradient_edge(root), tensor::ones_like(root));
    find_live(pass, deadline, site);
  } catch (const Error& error) {
    pass.fail(error);
    pass.done().wait();  // throws the first error of the part, which may be another
  }
  pass.begin();
  wait_for(pass, deadline, site);
  pass.wait_for_leaves();  // for what hooks of leaves have computed: get_gradients() does its own waiting
  pass.done().wait();
}

// Returns the value of a reference that this worker owns.
Tensor owned_tensor(const RRef<Tensor>& root, base::Location site) {
  const rpc::Value value = root.as<rpc::Value>().local_value(site);
  const auto* const tensor = value.get_if<Tensor>();
  if (tensor == nullptr) refuse("RRef should contain a tensor for .backward()", site);
  return *tensor;
}

base::TimePoint deadline_of(const BackwardOptions& options) {
  if (!options.timeout || *options.timeout == 0) return core::kForever;
  return base::deadline_after(base::nanoseconds_of(*options.timeout));
}

}  // namespace

void backward(ContextId context, const TensorList& roots, BackwardOptions options, base::Location site) {
  const auto contexts = current_contexts(site);
  const auto known = contexts->get(context, site);
  check_roots(roots, site);
  const profiler::Span span("torch::distributed::autograd::backward");
  const PassId id = contexts->next_pass_id();
  const auto pass = std::static_pointer_cast<Pass>(contexts->find_or_add_pass(id, [&] {
    return Pass::make(contexts, known, id, {options.retain_graph, options.mode});
  }));
  pass->is_first();  // only this thread waits for its part
  core::ThreadState state = core::thread_state();
  state.autograd_context = rpc::kNoContext;
  const core::ThreadStateGuard guard(std::move(state));
  run(*pass, roots, deadline_of(options), site);
}

void backward(ContextId context, const RRef<Tensor>& root, BackwardOptions options, base::Location site) {
  if (root.is_owner()) {
    return backward(context, TensorList{owned_tensor(root, site)}, options, site);
  }
  const double timeout = options.timeout.value_or(0);
  rpc::rpc_sync<void>(rpc::Destination(root.owner(), site).within(timeout), kBegin, context, root, options.retain_graph,
                      options.mode == Mode::Fast, timeout);
}

void backward(const RRef<Tensor>& root, bool retain_graph, base::Location site) {
  if (!root.is_owner()) {
    refuse("User RRefs require 'dist_autograd_ctx_id' to be specified: the value is on " +
               rpc::to_string(root.owner()) + "; pass the id of a context, backward(context.id(), rref)",
           site);
  }
  autograd::backward(owned_tensor(root, site), {}, {.retain_graph = retain_graph});
}

}  // namespace distrun::dist_autograd
