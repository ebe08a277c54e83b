#pragma once
// The errors of a pass when a node fails. For graph_task.cpp.
#include <string>

#include <distrun/common/base/error.hpp>
#include <distrun/runtime/autograd/anomaly.hpp>
#include <distrun/runtime/autograd/node.hpp>

namespace distrun::autograd {

// Adds the place of the node's forward call, in anomaly mode.
inline Error with_forward(const Error& error, const Node& node) {
  return {error.kind(), error.type(), error.text() + "\n" + forward_text(node), error.where()};
}

// The error for gradients fed from outside that don't fit.
inline Error refusal(const Node& node, const std::string& why) {
  return {ErrorKind::InvalidArgument, "cannot feed " + node.name() + ": it " + why};
}

}  // namespace distrun::autograd
