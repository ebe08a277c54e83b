#pragma once
// Backward passes over several workers.
#include <optional>

#include <distrun/common/base/location.hpp>
#include <distrun/runtime/dist_autograd/mode.hpp>
#include <distrun/runtime/dist_autograd/scope.hpp>
#include <distrun/runtime/rref/rref.hpp>

namespace distrun::dist_autograd {

struct BackwardOptions {
  bool retain_graph = false;
  Mode mode = Mode::Smart;
  // Seconds, for all of it; 0: no limit. Nothing: none of its own, and each message has the session's timeout.
  std::optional<double> timeout = {};
};

// Gradients of all leaves that the roots depend on, on all workers, are added to the context's. Roots are scalars that
// were computed from something that requires a gradient; theirs is 1. Returns when all are there.
//
// Throws, in this order: Error{Failed, "RuntimeError"} "Could not find autograd context with id: 7"; of roots
// Error{InvalidArgument, "RuntimeError"} "No tensors provided for gradient computation.", "requires_grad not set on
// root", "... is not a scalar, all roots need to be scalar", "... does not have a valid gradient function."; of another
// worker Error "Error on Node 2: ..." with what was thrown there, of its kind and type; Error{Disconnected} with the
// name of a worker that is lost meanwhile; Error{Timeout} with what it still waits for. After an error everything is
// usable; gradients that have come stay.
void backward(ContextId context, const TensorList& roots, BackwardOptions options = {},
              base::Location site = base::Location::here());

// Of the value that a reference is to, which is the root: begun at its owner, who may be this worker.
void backward(ContextId context, const RRef<Tensor>& root, BackwardOptions options = {},
              base::Location site = base::Location::here());

// Runs a plain pass of this worker over a value that it owns; gradients go to grad() of the leaves. Throws
// Error{InvalidArgument, "RuntimeError"} "User RRefs require 'dist_autograd_ctx_id' to be specified" on another worker,
// and what autograd::backward() throws.
void backward(const RRef<Tensor>& root, bool retain_graph = false, base::Location site = base::Location::here());

}  // namespace distrun::dist_autograd
