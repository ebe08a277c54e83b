#pragma once
// How a backward pass determines what takes part in it.
#include <cstdint>

namespace distrun::dist_autograd {

// Which messages of a context a pass waits for.
enum class Mode : std::uint8_t {
  // Determines which messages the roots depend on before gradients are sent: unused results take no part.
  Smart,
  // Assumes that the roots depend on every message of the context, as PyTorch does: an unused result gets zeros if its
  // worker is reached otherwise, and blocks the pass if it is a message's.
  Fast,
};

}  // namespace distrun::dist_autograd
