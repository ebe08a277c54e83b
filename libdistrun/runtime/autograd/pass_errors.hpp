#pragma once
// What a pass says of nodes that fail. For graph_task.cpp.
#include <string>

#include <distrun/common/base/error.hpp>
#include <distrun/runtime/autograd/anomaly.hpp>
#include <distrun/runtime/autograd/node.hpp>

namespace distrun::autograd {

// In anomaly mode: with where the node's forward call was.
inline Error with_forward(const Error& error, const Node& node) {
  return {error.kind(), error.type(), error.text() + "\n" + forward_text(node), error.where()};
}

// Of gradients that somebody else brings.
inline Error refusal(const Node& node, const std::string& why) {
  return {ErrorKind::InvalidArgument, "cannot feed " + node.name() + ": it " + why};
}

}  // namespace distrun::autograd
