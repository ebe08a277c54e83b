#pragma once
// The memory in which the ranks of an attempt write down what they do, with --trace. As the store's it is this
// process's, has no name, and goes with the attempt; ranks open it where their environment says.
#include <memory>

#include <distrun/common/trace/memory.hpp>
#include <distrun/common/wire/control.hpp>
#include <distrun/runner/attempt/run_context.hpp>
#include <distrun/runner/plan/plan.hpp>

namespace distrun::runner {

// Null: nothing is traced. A host has no ranks to see, and nobody listens to programs. If there is no memory for it,
// that is told, and the attempt goes without.
std::unique_ptr<trace::Memory> make_trace_memory(const RunContext& run, const PlannedTest& test);

// Where ranks find it; `memory` may be null.
void add_trace(wire::RunOrder& order, const trace::Memory* memory);

}  // namespace distrun::runner
