#pragma once
// Builds the wait-for graph of a snapshot. A pure function.
#include <distrun/runner/record/doctor/graph.hpp>

namespace distrun::runner::doctor {

// `earlier` may be nullptr; nothing can be proven then. The coordinator's loop must have run between the two, so that
// messages that were in flight have arrived. A snapshot itself costs the threads that it stops some CPU time: unless
// the times of `earlier` were read again after it (launch/cpu_times.hpp), they count neither as unchanged nor as moved.
// If the stacks of `now` may be older than their request, it is not compared.
Graph graph_of(const Snapshot& now, const Snapshot* earlier = nullptr);

}  // namespace distrun::runner::doctor
