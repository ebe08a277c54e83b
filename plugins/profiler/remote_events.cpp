// Workers' activity for calls, in the caller's profile: names, nodes, shapes, memory, trees; in nested calls, threads,
// and contexts of distributed autograd.
#include <algorithm>
#include <fstream>
#include <set>
#include <sstream>

#include <distrun/common/base/thread.hpp>
#include <distrun/dist_autograd.hpp>

#include "suites.hpp"

using namespace distrun;
using namespace distrun::suites;
using rpc::CallMode;

namespace {

constexpr std::int64_t kNoDevice = -1;

std::string key_of(const Rank& rank, const std::string& function, int to) {
  return rpc::profiling_key(CallMode::Async, function, rank.worker_name(), rank.worker_name(to));
}

void call_udf(const Rank& rank, int to, bool use_record_function = false) {
  rpc_async(rank.worker_name(to), profiled::udf_with_torch_ops, kNoDevice, use_record_function).wait();
}

Events remote_ones(const Events& events) {
  Events found;
  std::copy_if(events.begin(), events.end(), std::back_inserter(found),
               [](const profiler::Event& each) { return each.is_remote; });
  return found;
}

// Returns those among the expected operators.
std::set<std::string> operators_in(const Events& remote_events) {
  const auto& expected = profiled::expected_operators();
  std::set<std::string> found;
  for (const profiler::Event& each : remote_events) {
    const std::string name = operator_of(each);
    if (std::find(expected.begin(), expected.end(), name) != expected.end()) found.insert(name);
  }
  return found;
}
std::set<std::string> all_operators() {
  return {profiled::expected_operators().begin(), profiled::expected_operators().end()};
}

void remote_events_profiled(Rank& rank) {
  if (rank.rank() != kActing) return;
  for (const int to : other_ranks(rank)) {
    const Events events = recorded([&] { call_udf(rank, to); });
    const profiler::Event& call = get_function_event(events, "async");
    const std::vector<std::string> parts{std::string(rank.worker_name()), std::string(rank.worker_name(to)),
                                         "udf_with_torch_ops", "async"};
    for (const std::string& part : parts) DISTRUN_EXPECT(has(call.name, part));
    DISTRUN_EXPECT(std::count_if(events.begin(), events.end(),
                                 [&](const profiler::Event& each) { return each.name == call.name; }) == 1);
    const Events remote = remote_ones(events);
    for (const std::string& op : profiled::expected_operators()) {
      const std::string name = key_of(rank, "udf_with_torch_ops", to) + kRemoteOp + op;
      const auto found =
          std::find_if(remote.begin(), remote.end(), [&](const profiler::Event& each) { return each.name == name; });
      DISTRUN_REQUIRE(found != remote.end());
      DISTRUN_EXPECT(found->node == to);
    }
    DISTRUN_EXPECT(operators_in(remote) == all_operators());
  }
}

// Two threads call these workers at the same time, each with a separate profile.
void check_two_callers(const Rank& rank, const std::array<int, 2>& callees) {
  std::array<Events, 2> seen;
  std::vector<std::unique_ptr<base::Thread>> threads;
  for (std::size_t i = 0; i < seen.size(); ++i) {
    threads.push_back(std::make_unique<base::Thread>("caller", [&, i, own = core::thread_state()] {
      const core::ThreadStateGuard guard(own);
      seen[i] = recorded([&] { call_udf(rank, callees[i]); });
    }));
  }
  threads.clear();
  for (std::size_t i = 0; i < seen.size(); ++i) {
    const Events remote = remote_ones(seen[i]);
    for (const profiler::Event& each : remote) {
      DISTRUN_EXPECT(each.name.starts_with(key_of(rank, "udf_with_torch_ops", callees[i])));
      DISTRUN_EXPECT(each.node == callees[i]);
    }
    DISTRUN_EXPECT(operators_in(remote) == all_operators());
  }
}

void check_async_function(Rank& rank, const std::string& device) {
  const Events events = recorded([&] {
    rpc_async(to(rank.worker_name(2)).within(20), profiled::slow_async_add, std::string(rank.worker_name(3)), ones({2}),
              ones({2}), device)
        .wait();
  });
  const std::string inner = rpc::profiling_key(CallMode::Async, "slow_add", rank.worker_name(2), rank.worker_name(3));
  const std::string nested = key_of(rank, "slow_async_add", 2) + kRemoteOp + inner;
  const std::vector<std::pair<std::string, int>> expected{{nested, 2}, {nested + kRemoteOp + "aten::add", 3}};
  for (const auto& [name, node] : expected) {
    Events found = remote_ones(events);
    std::erase_if(found, [&, &wanted = name](const profiler::Event& each) { return each.name != wanted; });
    DISTRUN_REQUIRE(found.size() == 1u);
    DISTRUN_EXPECT(found.front().node == node);
  }
}

void async_function(Rank& rank) {
  open_group(rank);
  if (rank.rank() == kActing) check_async_function(rank, "cpu");
  if (device::gpu_count() == 0) return;
  group_barrier();
  if (rank.rank() == kActing) check_async_function(rank, "cuda:0");
}

std::set<std::string> names_below(const Events& events, const profiler::Event& top) {
  std::set<std::string> names;
  for (const std::size_t child : top.children) {
    names.insert(operator_of(events[child]));
    names.merge(names_below(events, events[child]));
  }
  return names;
}

void with_autograd_context(Rank& rank) {
  if (rank.rank() != kActing) return;
  const auto call = [&] {
    const Tensor a = set_requires_grad(scalar_tensor(1.0)), b = set_requires_grad(scalar_tensor(1.0));
    rpc_async(rank.worker_name(2), "mul", a, b).wait();
  };
  const auto check = [&](const Events& events) {
    Events found = remote_ones(events);
    std::erase_if(found, [](const profiler::Event& each) { return operator_of(each) != "aten::mul"; });
    DISTRUN_REQUIRE(found.size() == 1u);
    DISTRUN_EXPECT(found.front().node == 2);
    const std::vector<std::string> parts{std::string(rank.worker_name()), std::string(rank.worker_name(2)), "mul",
                                         "async"};
    for (const std::string& part : parts) DISTRUN_EXPECT(has(found.front().name, part));
  };
  {
    const dist_autograd::ContextScope context;
    check(recorded(call));
  }
  check(recorded([&] {
    const dist_autograd::ContextScope context;
    call();
  }));
}

std::set<std::int64_t> memory_in(const Events& events) {
  std::set<std::int64_t> bytes;
  for (const profiler::Event& each : events) bytes.insert(each.cpu_memory);
  return bytes;
}

}  // namespace

DISTRUN_TEST_F(RpcTest, profiler_rpc_record_shapes) {
  if (rank.rank() != kActing) return;
  const Tensor a = ones({100}), b = ones({100});
  const Events remote =
      remote_ones(recorded([&] { rpc_sync(rank.worker_name(2), "add", a, b); }, {.record_shapes = true}));
  const Events local = recorded([&] { a + b; }, {.record_shapes = true});
  const profiler::Event& there = get_function_event(remote, "aten::add");
  DISTRUN_EXPECT(there.input_shapes == get_function_event(local, "aten::add").input_shapes);
  DISTRUN_EXPECT(there.input_shapes == std::vector<std::vector<std::int64_t>>{{100}, {100}});
}

DISTRUN_TEST_F(RpcTest, profiler_rpc_memory) {
  if (rank.rank() != kActing) return;
  const std::set<std::int64_t> nothing{0};
  DISTRUN_EXPECT(memory_in(recorded([&] { call_udf(rank, 2); }, {.profile_memory = true})) != nothing);
  DISTRUN_EXPECT(memory_in(recorded([&] { call_udf(rank, 2); })) == nothing);
}

DISTRUN_TEST_F(RpcTest, profiler_export_trace) {
  if (rank.rank() != kActing) return;
  Profile profile;
  call_udf(rank, 2);
  profile.end();
  const std::string path = std::string(rank.work_dir()) + "/trace.json";
  profile.export_chrome_trace(path);
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  const Json trace = read_json(text.str());
  DISTRUN_REQUIRE(!trace.items.empty());
  for (const Json& each : trace.items) DISTRUN_EXPECT(!each.at("name").text.empty());
  std::vector<std::string> parts = profiled::expected_operators();
  parts.emplace_back("async");
  for (const std::string& part : parts) {
    DISTRUN_EXPECT(std::any_of(trace.items.begin(), trace.items.end(),
                               [&](const Json& each) { return has(each.at("name").text, part); }));
  }
}

// Profiles belong to threads, and so do the names of their calls.
DISTRUN_TEST_F(RpcTest, profiler_rpc_key_names) {
  if (rank.rank() != kActing) return;
  const std::vector<int> others = other_ranks(rank);
  for (std::size_t i = 0; i < others.size(); ++i) {
    check_two_callers(rank, {others[i], others[i]});
    check_two_callers(rank, {others[i], others[(i + 1) % others.size()]});
  }
}

DISTRUN_TEST_F(RpcTest, profiler_remote_events_profiled) { remote_events_profiled(rank); }
DISTRUN_TEST_F(RpcTest, profiler_remote_events_profiled_single_threaded) { remote_events_profiled(rank); }

DISTRUN_TEST_F(RpcTest, rpc_profiling_async_function) { async_function(rank); }
DISTRUN_TEST_F(RpcTest, rpc_profiling_async_function_single_threaded) { async_function(rank); }

DISTRUN_TEST_F(RpcTest, rpc_profiling_remote_record_function) {
  if (rank.rank() != kActing) return;
  const Events local = recorded([] { profiled::udf_with_torch_ops(kNoDevice, true); });
  const std::set<std::string> expected = names_below(local, get_function_event(local, "##forward##"));
  for (const int to : other_ranks(rank)) {
    const Events events = recorded([&] { call_udf(rank, to, true); });
    DISTRUN_REQUIRE(std::count_if(events.begin(), events.end(),
                                  [](const profiler::Event& each) { return has(each.name, "##forward##"); }) == 1);
    const profiler::Event& forward = get_function_event(events, "##forward##");
    DISTRUN_EXPECT(forward.node == to);
    const std::set<std::string> found = names_below(events, forward);
    DISTRUN_EXPECT(!found.empty());
    DISTRUN_EXPECT(std::includes(expected.begin(), expected.end(), found.begin(), found.end()));
  }
}

DISTRUN_TEST_F(RpcTest, profiler_with_autograd_context) { with_autograd_context(rank); }
DISTRUN_TEST_F(RpcTest, profiler_with_autograd_context_single_threaded) { with_autograd_context(rank); }
