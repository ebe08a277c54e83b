#pragma once
// Memory in which the ranks of an attempt record what they do, with --trace. Like the store's, it is an unnamed file of
// this process and disappears with the attempt; ranks find its path in their environment. On other machines, it is one
// of their nodes, which send what was recorded (nodes/trace_fetch.hpp).
#include <cstdint>
#include <memory>
#include <vector>

#include <distrun/common/trace/reader.hpp>
#include <distrun/common/wire/control.hpp>
#include <distrun/runner/attempt/run_context.hpp>
#include <distrun/runner/plan/plan.hpp>

namespace distrun::runner {

// Returns how many records each rank of an attempt may keep. 0: nothing is traced: without --trace, for a host (it has
// no ranks to show) and for programs (they do not record).
std::uint64_t trace_records(const RunContext& run, const PlannedTest& test);
// Returns null if nothing is traced. If no memory is available, reports that and returns null.
std::unique_ptr<trace::Memory> make_trace_memory(const RunContext& run, const PlannedTest& test);
// Returns the traces of all ranks; none if `memory` is null.
std::vector<trace::RankTrace> read_traces(const trace::Memory* memory);

// Adds the memory's path to the ranks' environment; `memory` may be null.
void add_trace(wire::RunOrder& order, const trace::Memory* memory);

}  // namespace distrun::runner
