#pragma once
// Operators and nodes of backward passes in the traces of ranks (core/tracing.hpp).

namespace distrun::runtime {

// Traces them from now on, until the process ends. Idempotent.
void trace_operators();

}  // namespace distrun::runtime
