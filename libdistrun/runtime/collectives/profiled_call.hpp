#pragma once
// A collective in the profile of the rank that calls it, by the name and with the words that people of the field look
// for: "record_param_comms".
#include <distrun/runtime/collectives/call.hpp>
#include <distrun/runtime/profiler/span.hpp>

namespace distrun::collectives {

// Until the call returns; what goes on beside it is not a part of it.
profiler::Span profiled(const Call& call, const GroupInfo& group);

}  // namespace distrun::collectives
