#pragma once
// Backward passes over several workers.
#include <optional>

#include <distrun/common/base/location.hpp>
#include <distrun/runtime/dist_autograd/mode.hpp>
#include <distrun/runtime/dist_autograd/scope.hpp>
#include <distrun/runtime/rref/rref.hpp>

namespace distrun::dist_autograd {

// Options of a pass over several workers.
struct BackwardOptions {
  bool retain_graph = false;  // keep the saved tensors on all workers, for another pass
  Mode mode = Mode::Smart;    // the same on all workers
  // Limit of the whole pass in seconds; 0: none. If unset, the pass has no limit, and each message has the session's
  // timeout.
  std::optional<double> timeout = {};
};

// Adds the gradients of all leaves that the roots depend on, on all workers, to the context's. Roots are scalars
// computed from tensors that require a gradient; their gradient is 1. Returns when all have arrived.
//
// Throws, in this order: Error{Failed, "RuntimeError"} "Could not find autograd context with id: 7"; for roots
// Error{InvalidArgument, "RuntimeError"} "No tensors provided for gradient computation.", "requires_grad not set on
// root", "... is not a scalar, all roots need to be scalar", "... does not have a valid gradient function."; for an
// error on another worker Error "Error on Node 2: ..." with its text, kind and type; Error{Disconnected} with the name
// of a worker that is lost meanwhile; Error{Timeout} with the missing gradients. After an error everything is usable;
// gradients that have arrived stay.
void backward(ContextId context, const TensorList& roots, BackwardOptions options = {},
              base::Location site = base::Location::here());

// Begins a pass at the owner of the reference, which may be this worker; the root is the reference's value.
void backward(ContextId context, const RRef<Tensor>& root, BackwardOptions options = {},
              base::Location site = base::Location::here());

// Runs a plain pass of this worker over a value that it owns; gradients go to grad() of the leaves. Throws
// Error{InvalidArgument, "RuntimeError"} "User RRefs require 'dist_autograd_ctx_id' to be specified" on another worker,
// and what autograd::backward() throws.
void backward(const RRef<Tensor>& root, bool retain_graph = false, base::Location site = base::Location::here());

}  // namespace distrun::dist_autograd
