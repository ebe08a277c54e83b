#pragma once
// What ported tests open profiles with, and find events by.
#include <set>
#include <string>
#include <vector>

#include <distrun/profiler.hpp>
#include <distrun/test.hpp>

#include "json.hpp"

namespace distrun::suites {

// The first whose name contains that. Throws Error{InvalidArgument, "IndexError"}, with what there is, if none does.
const profiler::Event& get_function_event(const profiler::Events& events, const std::string& part_of_name);

// All whose names start or end with that. With `dedup_gpu_user_annotation`, without those that only say what a device
// did meanwhile: they have kernels and no time of the CPU.
profiler::Events get_profiling_event(const std::string& name, const profiler::Events& events,
                                     bool dedup_gpu_user_annotation = false);
inline profiler::Events get_profiling_event(const std::string& name, const profiler::Profile& profile,
                                            bool dedup_gpu_user_annotation = false) {
  return get_profiling_event(name, profile.events(), dedup_gpu_user_annotation);
}

// The entries of the profile's trace that tell of collectives. The trace is written to a file of this rank's own, which
// is read and removed; says so on stdout.
std::vector<Json> get_profiler_nccl_meta(const Rank& rank, const profiler::Profile& profile);

// Two ways to open the same, with shapes: the one records calls, too, and the other only what happens here.
inline profiler::ProfileOptions autograd_profiler() { return {.record_shapes = true}; }
inline profiler::ProfileOptions general_profiler() { return {.record_shapes = true, .with_rpc = false}; }

}  // namespace distrun::suites
