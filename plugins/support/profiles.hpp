#pragma once
// Opens profiles and finds events as ported tests do.
#include <set>
#include <string>
#include <vector>

#include <distrun/profiler.hpp>
#include <distrun/test.hpp>

#include "json.hpp"

namespace distrun::suites {

// Returns the first event with a name that contains `part_of_name`. Throws Error{InvalidArgument, "IndexError"}, with
// the existing names, if no event matches.
const profiler::Event& get_function_event(const profiler::Events& events, const std::string& part_of_name);

// Returns all events with a name that starts or ends with `name`. With `dedup_gpu_user_annotation`, excludes those that
// only mark a device's activity: they have kernels and no CPU time.
profiler::Events get_profiling_event(const std::string& name, const profiler::Events& events,
                                     bool dedup_gpu_user_annotation = false);
inline profiler::Events get_profiling_event(const std::string& name, const profiler::Profile& profile,
                                            bool dedup_gpu_user_annotation = false) {
  return get_profiling_event(name, profile.events(), dedup_gpu_user_annotation);
}

// Returns the trace entries of collectives. Writes the trace to a temporary file of this rank; notes that on stdout.
std::vector<Json> get_profiler_nccl_meta(const Rank& rank, const profiler::Profile& profile);

// Options of two profilers, with shapes: autograd_profiler() records calls, too, general_profiler() only local events.
inline profiler::ProfileOptions autograd_profiler() { return {.record_shapes = true}; }
inline profiler::ProfileOptions general_profiler() { return {.record_shapes = true, .with_rpc = false}; }

}  // namespace distrun::suites
