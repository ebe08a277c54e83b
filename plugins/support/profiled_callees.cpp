#include "profiled_callees.hpp"

#include <chrono>
#include <thread>

#include <distrun/tensors.hpp>

namespace distrun::suites::profiled {
namespace {

void sleep_for(double seconds) { std::this_thread::sleep_for(std::chrono::duration<double>(seconds)); }

std::int64_t count_of(base::TimePoint time) { return base::Nanoseconds(time.time_since_epoch()).count(); }

void run_operators() {
  const Tensor sum = ones({1}) + ones({1});
  sigmoid(relu(sum * sum));
}

}  // namespace

const std::vector<std::string>& expected_operators() {
  static const std::vector<std::string> names{"aten::ones", "aten::add",       "aten::mul",
                                              "aten::relu", "aten::clamp_min", "aten::sigmoid"};
  return names;
}

void udf_with_torch_ops(std::int64_t device, bool use_record_function) {
  std::optional<device::DeviceGuard> guard;
  if (device >= 0) guard.emplace(device::cuda(static_cast<int>(device)));
  std::optional<profiler::Span> span;
  if (use_record_function) span.emplace("##forward##");
  run_operators();
}
DISTRUN_RPC(udf_with_torch_ops, "device", "use_record_function")

Tensor my_sleep_func(double seconds) {
  sleep_for(seconds);
  return scalar_tensor(1) * scalar_tensor(1);
}
DISTRUN_RPC(my_sleep_func, "seconds")

Tensor slow_add(Tensor x, Tensor y, std::string device) {
  sleep_for(1);
  const device::Device there = device::parse_device(device);
  return cpu(to(x, there) + to(y, there));
}
DISTRUN_RPC(slow_add, "x", "y", "device")

Future<Tensor> slow_async_add(std::string to, Tensor x, Tensor y, std::string device) {
  return rpc_async(to, slow_add, x, y, device);
}
DISTRUN_RPC_ASYNC(slow_async_add, "to", "x", "y", "device")

std::vector<std::vector<ServedEvent>> get_events_from_profile(RRef<rpc::ServerProcessGlobalProfile> profile) {
  std::vector<std::vector<ServedEvent>> threads;
  for (const profiler::Events& events : profile.local_value()->process_global_function_events()) {
    threads.emplace_back();
    for (const profiler::Event& each : events) {
      threads.back().push_back({each.name, count_of(each.begin), count_of(each.end)});
    }
  }
  return threads;
}
DISTRUN_RPC(get_events_from_profile, "profile")

}  // namespace distrun::suites::profiled
