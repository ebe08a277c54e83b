#pragma once
// Functions of ported tests of the profiler that others call, under the names that they have there. Some of these names
// are also others' (rpc_callees.hpp), which do not return what a profiler needs to see: a plugin has the one or the
// other.
#include <cstdint>
#include <string>
#include <vector>

#include <distrun/common/wire/codec.hpp>
#include <distrun/rpc.hpp>
#include <distrun/runtime/rpc/calls/server_profile.hpp>

namespace distrun::suites::profiled {

// What udf_with_torch_ops() and those who call it are seen to do.
const std::vector<std::string>& expected_operators();

// ones, ones, add, mul, relu and sigmoid; with that GPU current unless it is -1; within "##forward##" or not.
void udf_with_torch_ops(std::int64_t device, bool use_record_function);
Tensor my_sleep_func(double seconds);                     // tensor(1) * tensor(1), after so long
Tensor slow_add(Tensor x, Tensor y, std::string device);  // on that device, after a second; of the CPU
Future<Tensor> slow_async_add(std::string to, Tensor x, Tensor y, std::string device);  // the same, by `to`

struct ServedEvent {
  std::string name;
  std::int64_t begin = 0, end = 0;  // ns
};
DISTRUN_FIELDS(ServedEvent, m.name, m.begin, m.end)
// What the profile has heard of, by thread; where it is.
std::vector<std::vector<ServedEvent>> get_events_from_profile(RRef<rpc::ServerProcessGlobalProfile> profile);

}  // namespace distrun::suites::profiled
