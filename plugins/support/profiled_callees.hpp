#pragma once
// Functions that ported tests of the profiler call remotely, under their original names. Some names exist in
// rpc_callees.hpp too, for functions without the results that a profiler test needs: a plugin links one of the two.
#include <cstdint>
#include <string>
#include <vector>

#include <distrun/common/wire/codec.hpp>
#include <distrun/rpc.hpp>
#include <distrun/runtime/rpc/profile/server_profile.hpp>

namespace distrun::suites::profiled {

// Returns the operators that a profile of udf_with_torch_ops() or of its callers shows.
const std::vector<std::string>& expected_operators();

// Runs ones, ones, add, mul, relu and sigmoid; with that GPU current unless it is -1; optionally within "##forward##".
void udf_with_torch_ops(std::int64_t device, bool use_record_function);
Tensor my_sleep_func(double seconds);                     // tensor(1) * tensor(1), after `seconds`
Tensor slow_add(Tensor x, Tensor y, std::string device);  // on that device, after a second; returned on the CPU
Future<Tensor> slow_async_add(std::string to, Tensor x, Tensor y, std::string device);  // the same, by `to`

struct ServedEvent {
  std::string name;
  std::int64_t begin = 0, end = 0;  // ns
};
DISTRUN_FIELDS(ServedEvent, m.name, m.begin, m.end)
// Returns the profile's events by thread. Called on the worker that has the profile.
std::vector<std::vector<ServedEvent>> get_events_from_profile(RRef<rpc::ServerProcessGlobalProfile> profile);

}  // namespace distrun::suites::profiled
