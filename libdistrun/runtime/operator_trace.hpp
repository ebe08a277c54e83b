#pragma once
// Operators and nodes of backward passes in the traces of ranks (core/tracing.hpp).

namespace distrun::runtime {

// From now on, until the process ends. More than once is once.
void trace_operators();

}  // namespace distrun::runtime
