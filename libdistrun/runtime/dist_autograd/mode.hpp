#pragma once
// How a backward pass finds out what takes part in it.
#include <cstdint>

namespace distrun::dist_autograd {

enum class Mode : std::uint8_t {
  // Finds out which messages the roots depend on before gradients are sent: results that nobody has used take no part.
  Smart,
  // Takes every message of the context for one that the roots depend on, as PyTorch does: a result that nobody has used
  // gets zeros if its worker is reached otherwise, and keeps the pass waiting if it is a message's.
  Fast,
};

}  // namespace distrun::dist_autograd
