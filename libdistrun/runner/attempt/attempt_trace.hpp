#pragma once
// Memory in which the ranks of an attempt record what they do, with --trace. Like the store's, it is an unnamed file of
// this process and disappears with the attempt; ranks find its path in their environment.
#include <memory>

#include <distrun/common/trace/memory.hpp>
#include <distrun/common/wire/control.hpp>
#include <distrun/runner/attempt/run_context.hpp>
#include <distrun/runner/plan/plan.hpp>

namespace distrun::runner {

// Returns null if nothing is traced: without --trace, for a host (it has no ranks to show) and for programs (they do
// not record). If no memory is available, reports that and returns null.
std::unique_ptr<trace::Memory> make_trace_memory(const RunContext& run, const PlannedTest& test);

// Adds the memory's path to the ranks' environment; `memory` may be null.
void add_trace(wire::RunOrder& order, const trace::Memory* memory);

}  // namespace distrun::runner
