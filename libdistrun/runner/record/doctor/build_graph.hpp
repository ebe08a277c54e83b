#pragma once
// Builds the wait-for graph of a snapshot. A pure function.
#include <distrun/runner/record/doctor/graph.hpp>

namespace distrun::runner::doctor {

// `earlier` may be nullptr; nothing can be proven then. The coordinator's loop must have run between the two, so that
// messages that were in flight have arrived. A snapshot itself costs its threads some CPU time, so the times of
// `earlier` must be read again after it (launch/cpu_times.hpp): otherwise no thread counts as unchanged.
Graph graph_of(const Snapshot& now, const Snapshot* earlier = nullptr);

}  // namespace distrun::runner::doctor
