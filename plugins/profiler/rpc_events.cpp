// The event of a call: its name, nesting and node, for each way to call and each kind of callee. The tests named
// single_threaded share the body of their twins.
#include <algorithm>

#include "suites.hpp"

using namespace distrun;
using namespace distrun::suites;
using rpc::CallMode;

DISTRUN_SUITE(RpcTest, .world_size = fixed(4));

namespace {

struct Called {
  std::string mode;  // as in names of calls
  std::string function;
  int to = 2;
};

std::uint64_t count_of(const Events& events, const std::string& name) {
  for (const profiler::Average& each : profiler::key_averages(events)) {
    if (each.name == name) return each.count;
  }
  return 0;
}

void check_call(Rank& rank, const Events& events, const Called& called, bool is_within_foo) {
  const profiler::Event& call = get_function_event(events, called.mode);
  DISTRUN_EXPECT(call.node == kActing);
  DISTRUN_EXPECT(count_of(events, call.name) == 1u);
  const std::vector<std::string> parts{std::string(rank.worker_name()), std::string(rank.worker_name(called.to)),
                                       called.function, called.mode};
  for (const std::string& part : parts) DISTRUN_EXPECT(has(call.name, part));
  DISTRUN_EXPECT(std::any_of(events.begin(), events.end(),
                             [&](const profiler::Event& each) { return each.node == called.to && &each != &call; }));
  if (!is_within_foo) return;
  const profiler::Event& foo = get_function_event(events, "foo");
  DISTRUN_EXPECT(foo.begin <= call.begin);
  DISTRUN_EXPECT(foo.end >= call.end);
  DISTRUN_EXPECT(&foo < &call);
}

// Makes the call to that worker.
using Call = std::function<void(const std::string& to)>;

void check_run(Rank& rank, const Call& call, const Called& called, bool is_within_foo) {
  const Events events = recorded([&] {
    std::optional<profiler::Span> foo;
    if (is_within_foo) foo.emplace("foo");
    call(std::string(rank.worker_name(called.to)));
  });
  check_call(rank, events, called, is_within_foo);
}

void check_runs(Rank& rank, const Call& call, const Called& called) {
  if (rank.rank() != kActing) return;
  check_run(rank, call, called, false);
  check_run(rank, call, called, true);
}

// Waits for references until their owner has confirmed them. Run 3 calls the caller itself.
template <class T>
void check_remote_runs(Rank& rank, const std::function<RRef<T>(const std::string&)>& make, Called called) {
  const Call call = [&](const std::string& to) {
    const RRef<T> made = make(to);
    made.to_here();
    made.profiling().wait();
  };
  check_runs(rank, call, called);
  if (rank.rank() != kActing) return;
  called.to = kActing;
  check_run(rank, call, called, false);
}

Tensor one() { return scalar_tensor(1); }

void sync_udf(Rank& rank) {
  check_runs(rank, [](const std::string& to) { rpc_sync(to, profiled::my_sleep_func, 1); }, {"sync", "my_sleep_func"});
}
void sync_builtin(Rank& rank) {
  check_runs(rank, [](const std::string& to) { rpc_sync(to, "mul", ones({1}), ones({1})); }, {"sync", "mul"});
}
void sync_script(Rank& rank) {
  check_runs(rank, [](const std::string& to) { rpc_sync(to, my_script_func(), one()); },
             {"sync", my_script_func()->name()});
}
void async_builtin(Rank& rank) {
  check_runs(rank, [](const std::string& to) { rpc_async(to, "mul", ones({1}), ones({1})).wait(); }, {"async", "mul"});
}
void async_script(Rank& rank) {
  check_runs(rank, [](const std::string& to) { rpc_async(to, my_script_func(), one()).wait(); },
             {"async", my_script_func()->name()});
}
void async_udf(Rank& rank) {
  check_runs(rank, [](const std::string& to) { rpc_async(to, profiled::my_sleep_func, 1).wait(); },
             {"async", "my_sleep_func"});
  if (rank.rank() != kActing) return;
  // The other kind of profiler does not record calls.
  const Events events = recorded(
      [&] {
        const auto first = rpc_async(rank.worker_name(2), profiled::my_sleep_func, 1);
        const auto second = rpc_async(rank.worker_name(2), profiled::my_sleep_func, 1);
        for (const auto& each : {first, second}) DISTRUN_EXPECT(each.wait().item().to<int>() == 1);
      },
      general_profiler());
  DISTRUN_EXPECT(
      std::none_of(events.begin(), events.end(), [](const profiler::Event& each) { return has(each.name, "async"); }));
}
void remote_udf(Rank& rank) {
  check_remote_runs<Tensor>(rank, [](const std::string& to) { return remote(to, profiled::my_sleep_func, 1); },
                            {"remote", "my_sleep_func"});
}
void remote_builtin(Rank& rank) {
  check_remote_runs<Tensor>(rank, [](const std::string& to) { return remote<Tensor>(to, "mul", ones({1}), ones({1})); },
                            {"remote", "mul"});
}
void remote_script(Rank& rank) {
  check_remote_runs<Tensor>(rank, [](const std::string& to) { return remote<Tensor>(to, my_script_func(), one()); },
                            {"remote", my_script_func()->name()});
}

}  // namespace

DISTRUN_TEST(RpcTest, build_rpc_profiling_key) {
  const std::vector<std::pair<CallMode, std::string>> modes{
      {CallMode::Sync, "sync"}, {CallMode::Async, "async"}, {CallMode::Remote, "remote"}};
  for (const auto& [mode, name] : modes) {
    const std::string key = rpc::profiling_key(mode, "foo", rank.worker_name(0), rank.worker_name(1));
    DISTRUN_EXPECT(key == "rpc_" + name + "#foo(worker0 -> worker1)");
  }
}

DISTRUN_TEST_F(RpcTest, profiler_with_sync_rpc_udf) { sync_udf(rank); }
DISTRUN_TEST_F(RpcTest, profiler_with_sync_rpc_udf_single_threaded) { sync_udf(rank); }
DISTRUN_TEST_F(RpcTest, profiler_with_sync_rpc_builtin) { sync_builtin(rank); }
DISTRUN_TEST_F(RpcTest, profiler_with_sync_rpc_builtin_single_threaded) { sync_builtin(rank); }
DISTRUN_TEST_F(RpcTest, profiler_with_async_rpc_udf) { async_udf(rank); }
DISTRUN_TEST_F(RpcTest, profiler_with_async_rpc_udf_single_threaded) { async_udf(rank); }
DISTRUN_TEST_F(RpcTest, profiler_with_async_rpc_builtin) { async_builtin(rank); }
DISTRUN_TEST_F(RpcTest, profiler_with_async_rpc_builtin_single_threaded) { async_builtin(rank); }
DISTRUN_TEST_F(RpcTest, profiler_with_remote_udf) { remote_udf(rank); }
DISTRUN_TEST_F(RpcTest, profiler_with_remote_udf_single_threaded) { remote_udf(rank); }
DISTRUN_TEST_F(RpcTest, profiler_with_remote_builtin) { remote_builtin(rank); }
DISTRUN_TEST_F(RpcTest, profiler_with_remote_builtin_single_threaded) { remote_builtin(rank); }
DISTRUN_TEST_F(RpcTest, profiler_with_script_async_rpc) { async_script(rank); }
DISTRUN_TEST_F(RpcTest, profiler_with_script_async_rpc_single_threaded) { async_script(rank); }
DISTRUN_TEST_F(RpcTest, profiler_with_script_sync_rpc) { sync_script(rank); }
DISTRUN_TEST_F(RpcTest, profiler_with_script_sync_rpc_single_threaded) { sync_script(rank); }
DISTRUN_TEST_F(RpcTest, profiler_with_script_remote_rpc) { remote_script(rank); }
DISTRUN_TEST_F(RpcTest, profiler_with_script_remote_rpc_single_threaded) { remote_script(rank); }
