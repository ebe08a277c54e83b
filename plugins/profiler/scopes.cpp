// Scopes that end with futures, profiles of a whole process, and the time that calls wait for threads.
#include <algorithm>

#include <distrun/runtime/rpc/compat.hpp>

#include "suites.hpp"

using namespace distrun;
using namespace distrun::suites;
using profiled::ServedEvent;
using rpc::ServerProcessGlobalProfile;

namespace {

using Threads = std::vector<std::vector<ServedEvent>>;

// Returns the names of events that are not within another.
std::vector<std::string> top_level_names(const Threads& threads) {
  std::vector<std::string> names;
  for (const std::vector<ServedEvent>& events : threads) {
    std::int64_t last_end = 0;
    for (const ServedEvent& each : events) {
      if (each.begin <= last_end) continue;
      last_end = each.end;
      names.push_back(each.name);
    }
  }
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace

DISTRUN_TEST_F(RpcTest, async_record_function_double_end_callbacks) {
  if (rank.rank() != kActing) return;
  const Profile profile;
  std::optional<Future<Tensor>> future;
  {
    const profiler::RecordFunction foo("foo");
    future = rpc_async(rank.worker_name(0), profiled::my_sleep_func, 1);
    foo.call_end_callbacks_on_future(*future);
    DISTRUN_EXPECT(thrown_by([&] { foo.call_end_callbacks_on_future(*future); }) ==
                   an_error("RuntimeError", "can only be called once."));
  }
  DISTRUN_EXPECT(future->wait().item().to<int>() == 1);
}

DISTRUN_TEST_F(RpcTest, async_record_function_legacy) {
  if (rank.rank() != kActing) return;
  const Profile profile;
  const profiler::RecordHandle handle = profiler::record_function_enter("foo");
  std::optional<Future<Tensor>> future;
  try {
    future = rpc_async(rank.worker_name(0), profiled::my_sleep_func, 1);
    profiler::call_end_callbacks_on_future(handle, *future);
  } catch (...) {
    profiler::record_function_exit(handle);
    throw;
  }
  profiler::record_function_exit(handle);
  DISTRUN_EXPECT(future->wait().item().to<int>() == 1);
}

DISTRUN_TEST_F(RpcTest, async_record_function_cbs_jit_call) {
  if (rank.rank() != kActing) return;
  const std::string name = my_script_func()->name();
  const std::string key = rpc::profiling_key(rpc::CallMode::Async, name, rank.worker_name(1), rank.worker_name(0));
  const Events events = recorded([&] {
    const profiler::RecordHandle handle = profiler::record_function_enter(key);
    const auto called = rpc_async<Tensor>(rank.worker_name(0), my_script_func(), scalar_tensor(1));
    const Future<Tensor> wrapped = profiler::call_end_callbacks_on_future(handle, called);
    const Tensor result = wrapped.wait();
    DISTRUN_EXPECT(what_differs(result, called.wait()).empty());
    DISTRUN_EXPECT(what_differs(result, scalar_tensor(2)).empty());
    DISTRUN_EXPECT(result.dtype() == DType::I64);
    profiler::record_function_exit(handle);
  });
  DISTRUN_EXPECT(has(get_function_event(events, name).name, name));
}

DISTRUN_TEST_F(RpcTest, server_process_global_profiler) {
  if (!rank.is_master()) return;
  const std::string server(rank.worker_name(1));
  const auto make = [&] { return remote<ServerProcessGlobalProfile>(server, "ServerProcessGlobalProfile"); };
  const Tensor x = scalar_tensor(1), y = scalar_tensor(2);
  const auto outer = make();
  outer.rpc_sync().call("enter");
  rpc_sync(server, "add", x, y);
  const auto inner = make();
  inner.rpc_sync().call("enter");
  rpc_sync(server, "sub", x, y);
  inner.rpc_sync().call("exit");
  outer.rpc_sync().call("exit");
  const auto events_of = [&](const auto& profile) {
    return rpc_sync(server, profiled::get_events_from_profile, profile);
  };
  DISTRUN_EXPECT(top_level_names(events_of(inner)) == std::vector<std::string>{"aten::sub"});
  DISTRUN_EXPECT(top_level_names(events_of(outer)) == std::vector<std::string>{"aten::add", "aten::sub"});
  DISTRUN_EXPECT(has(inner.rpc_sync().template call<std::string>("key_averages"), "aten::sub"));
  DISTRUN_EXPECT(has(outer.rpc_sync().template call<std::string>("key_averages"), "aten::add"));
}

DISTRUN_TEST_F(RpcTest, disable_gil_profiling) {
  const auto has_average = [&] {
    rpc_sync<Tensor>(next_worker(rank), "add", ones({1}), ones({1}));
    return rpc::debug_info().contains("agent.gil_average_wait_time_us");
  };
  DISTRUN_EXPECT(!has_average());
  rpc::enable_gil_profiling(true);
  DISTRUN_EXPECT(has_average());
}
