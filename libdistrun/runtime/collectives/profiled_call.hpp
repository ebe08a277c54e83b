#pragma once
// Adds a collective to the profile of the calling rank, under the usual name "record_param_comms" and with its usual
// fields.
#include <distrun/runtime/collectives/call.hpp>
#include <distrun/runtime/profiler/span.hpp>

namespace distrun::collectives {

// The span ends when the call returns; work that continues beside it does not count.
profiler::Span profiled(const Call& call, const GroupInfo& group);

}  // namespace distrun::collectives
