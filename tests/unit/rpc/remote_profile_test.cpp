// The callees' work for calls, in the profiles of their callers and their own.
#include <catch2/catch.hpp>

#include <algorithm>
#include <thread>

#include <distrun/common/base/error.hpp>
#include <distrun/runtime/autograd/operators/all.hpp>
#include <distrun/runtime/profiler/profile.hpp>
#include <distrun/runtime/profiler/span.hpp>
#include <distrun/runtime/rpc/calls/call.hpp>
#include <distrun/runtime/rpc/calls/calls.hpp>
#include <distrun/runtime/rpc/compat.hpp>
#include <distrun/runtime/rpc/functions/register.hpp>
#include <distrun/runtime/rpc/graph/builder.hpp>
#include <distrun/runtime/rpc/profile/profiled_call.hpp>
#include <distrun/runtime/rpc/profile/served_profile.hpp>
#include <distrun/runtime/rpc/profile/server_profile.hpp>

#include "session_ranks.hpp"

namespace distrun::rpc {
namespace {

using profiler::Event;
using profiler::Events;
using profiler::Profile;
using profiler::ProfileOptions;

constexpr char kRemote[] = "#remote_op: ";

Tensor doubled(Tensor tensor) {
  const profiler::Span span("##doubled##");
  return tensor + tensor;
}
DISTRUN_RPC(doubled)
Tensor doubled_elsewhere(int to, Tensor tensor) { return rpc_sync(to, doubled, tensor); }
DISTRUN_RPC(doubled_elsewhere)
future::Future<Tensor> doubled_later(int to, Tensor tensor) {
  return rpc_async(to, doubled, tensor).then([](const future::Future<Tensor>& done) { return relu(done.wait()); });
}
DISTRUN_RPC_ASYNC(doubled_later)
void fail_after_work(Tensor tensor) {
  tensor * 2;
  throw Error(ErrorKind::InvalidArgument, "ValueError", "Expected error");
}
DISTRUN_RPC(fail_after_work)
bool is_profiled_here() { return core::thread_state().profiler != nullptr; }
DISTRUN_RPC(is_profiled_here)
int many_operators(int count) {
  const Tensor one = ones({1});
  for (int i = 1; i < count; ++i) one + one;
  return count;
}
DISTRUN_RPC(many_operators)

bool is_profiled_there() { return is_profiled_here(); }
[[maybe_unused]] const bool is_of_runtime =
    register_function("distrun.profile_test.is_profiled", {}, &is_profiled_there);

// Returns the names of remote events, in order.
std::vector<std::string> remote_names(const Events& events) {
  std::vector<std::string> names;
  for (const Event& each : events) {
    if (each.is_remote) names.push_back(each.name);
  }
  return names;
}

const Event& the(const Events& events, const std::string& name) {
  const auto found = std::find_if(events.begin(), events.end(), [&](const Event& each) { return each.name == name; });
  if (found == events.end()) throw Error(ErrorKind::Failed, "no event " + name);
  return *found;
}

// Returns the events of rank 0 between init_rpc and shutdown; the others only answer.
Events profiled(int world_size, const std::function<void()>& body, const ProfileOptions& options = {}) {
  const Ranks ranks(world_size);
  Events events;
  const auto errors = ranks.run([&](int rank) {
    init_rpc(ranks.options(rank));
    if (rank == 0) {
      Profile profile(options);
      body();
      profile.end();
      events = profile.events();
    }
    shutdown();
  });
  CHECK(errors == no_errors(world_size));
  return events;
}

TEST_CASE("a callee's events are in the caller's profile, with the call's name, their tree, node and shapes") {
  const std::string key = "rpc_sync#doubled(worker0 -> worker1)";
  const Events events = profiled(2, [] { rpc_sync(1, doubled, tensor::ones({3})); }, {.record_shapes = true});
  CHECK(remote_names(events) == std::vector<std::string>{key + kRemote + "##doubled##", key + kRemote + "aten::add"});
  const Event& call = the(events, key);
  const Event& outer = the(events, key + kRemote + "##doubled##");
  const Event& inner = the(events, key + kRemote + "aten::add");
  CHECK(call.node == 0);
  CHECK(outer.node == 1);
  CHECK(call.begin <= outer.begin);
  CHECK(outer.end <= call.end);
  CHECK(inner.input_shapes == std::vector<std::vector<std::int64_t>>{{3}, {3}});
  REQUIRE(inner.parent != Event::kNone);
  CHECK(events[inner.parent].name == outer.name);
}

TEST_CASE("operators and graph functions are profiled like functions, and local calls like remote ones") {
  const Events events = profiled(2, [] {
    GraphBuilder builder("square");
    const auto x = builder.parameter("x");
    const auto graph = builder.returns(builder.op("mul", x, x));
    const Tensor one = tensor::ones({1});
    rpc_async(1, "add", one, one).wait();
    for (int i = 0; i < 2; ++i) rpc_sync(1, graph, one);
    rpc_sync(0, doubled, one);
  });
  const std::string graph = "rpc_sync#square(worker0 -> worker1)#remote_op: aten::mul";
  CHECK(remote_names(events) == std::vector<std::string>{"rpc_async#aten::add(worker0 -> worker1)#remote_op: aten::add",
                                                         graph, graph,
                                                         "rpc_sync#doubled(worker0 -> worker0)#remote_op: ##doubled##",
                                                         "rpc_sync#doubled(worker0 -> worker0)#remote_op: aten::add"});
  CHECK(the(events, "rpc_sync#doubled(worker0 -> worker0)#remote_op: aten::add").node == 0);
}

TEST_CASE("nested calls have the names of all calls, and the nodes that they ran on") {
  const std::string outer = "rpc_sync#doubled_elsewhere(worker0 -> worker1)#remote_op: ";
  const std::string inner = outer + "rpc_sync#doubled(worker1 -> worker2)";
  const Events events = profiled(3, [] { rpc_sync(1, doubled_elsewhere, 2, tensor::ones({1})); });
  CHECK(remote_names(events) ==
        std::vector<std::string>{inner, inner + kRemote + "##doubled##", inner + kRemote + "aten::add"});
  CHECK(the(events, inner).node == 1);
  CHECK(the(events, inner + kRemote + "aten::add").node == 2);
}

TEST_CASE("later work of an asynchronous function is part of its call") {
  const std::string outer = "rpc_async#doubled_later(worker0 -> worker1)#remote_op: ";
  const Events events = profiled(3, [] { rpc_async(1, doubled_later, 2, tensor::ones({1})).wait(); });
  CHECK(the(events, outer + "rpc_async#doubled(worker1 -> worker2)#remote_op: aten::add").node == 2);
  CHECK(the(events, outer + "aten::relu").node == 1);
}

TEST_CASE("events before an error are sent with it") {
  const Events events = profiled(2, [] { text_of_error([] { rpc_sync(1, fail_after_work, tensor::ones({1})); }); });
  CHECK(remote_names(events) ==
        std::vector<std::string>{"rpc_sync#fail_after_work(worker0 -> worker1)#remote_op: aten::mul"});
}

TEST_CASE("memory is recorded for calls of a caller that requests it") {
  const auto total = [](const ProfileOptions& options) {
    const Events events = profiled(
        2, [] { rpc_sync(1, doubled, tensor::ones({100})); }, options);
    return the(events, "rpc_sync#doubled(worker0 -> worker1)#remote_op: aten::add").cpu_memory;
  };
  CHECK(total({.profile_memory = true}) == 400);
  CHECK(total({}) == 0);
}

TEST_CASE("a profile without RPC leaves calls alone") {
  bool with = false, without = true;
  const Events events = profiled(2, [&] {
    with = rpc_sync(1, is_profiled_here);
    const Profile other({.with_rpc = false});
    without = rpc_sync(1, is_profiled_here);
    rpc_async(1, "add", 1, 2).wait();
    if (!other.events().empty()) throw Error(ErrorKind::Failed, "it has an event");
  });
  CHECK(with);
  CHECK_FALSE(without);
  CHECK(events.size() == 1);
}

TEST_CASE("internal calls of the runtime are events of the caller only") {
  bool is_profiled = true;
  const Events events = profiled(2, [&] { is_profiled = rpc_sync<bool>(1, "distrun.profile_test.is_profiled"); });
  CHECK_FALSE(is_profiled);
  REQUIRE(events.size() == 1);
  CHECK(events[0].name == "rpc_sync#distrun.profile_test.is_profiled(worker0 -> worker1)");
}

TEST_CASE("remote events beyond the limit are counted") {
  std::uint64_t not_kept = 0;
  std::size_t count = 0;
  profiled(2, [&] {
    Profile profile;
    rpc_sync(1, many_operators, 10'005);
    not_kept = profile.not_kept();
    count = remote_names(profile.events()).size();
  });
  CHECK(count == 10'000);
  CHECK(not_kept == 5);
}

TEST_CASE("a call is in its caller's profile, even if its events are too many") {
  const Events events = profiled(2, [] { rpc_sync(1, many_operators, 10); }, {.limit = 3});
  CHECK(events.size() == 3);
  CHECK(events[0].name == "rpc_sync#many_operators(worker0 -> worker1)");
}

TEST_CASE("profiles of several threads do not mix the events of callees") {
  std::array<std::vector<std::string>, 2> names;
  const Ranks ranks(2);
  const auto errors = ranks.run([&](int rank) {
    init_rpc(ranks.options(rank));
    if (rank == 0) {
      std::vector<std::unique_ptr<base::Thread>> threads;
      for (std::size_t i = 0; i < 2; ++i) {
        threads.push_back(std::make_unique<base::Thread>("caller", [&names, i, own = core::thread_state()] {
          const core::ThreadStateGuard guard(own);
          const Profile profile;
          for (int calls = 0; calls < 20; ++calls) rpc_sync(1, i == 0 ? "mul" : "sub", tensor::ones({1}), 1);
          names[i] = remote_names(profile.events());
        }));
      }
      threads.clear();
    }
    shutdown();
  });
  CHECK(errors == no_errors(2));
  CHECK(names[0] == std::vector<std::string>(20, "rpc_sync#aten::mul(worker0 -> worker1)#remote_op: aten::mul"));
  CHECK(names[1] == std::vector<std::string>(20, "rpc_sync#aten::sub(worker0 -> worker1)#remote_op: aten::sub"));
}

// Sections created by hand.
Message with_profile(wire::Bytes bytes) {
  Message message;
  message.sections.push_back({SectionTag::Profiler, std::move(bytes)});
  return message;
}

TEST_CASE("an answer with invalid events still completes the call") {
  const Profile profile;
  std::vector<Section> sections;
  CallHead head;
  head.name = "f";
  const WorkerInfo a("a", 0), b("b", 1);
  const auto call = ProfiledCall::begin(head, CallMode::Sync, a, b, sections);
  REQUIRE(call != nullptr);
  CHECK(sections.size() == 1);
  const Message answer = with_profile(wire::Bytes(30, std::byte{0xff}));
  call->end(&answer);
  call->end(&answer);
  CHECK(profile.events().size() == 1);
  CHECK(profile.not_kept() == 1);
}

TEST_CASE("a call with an invalid profile request is served without a profile") {
  const core::RankState rank;
  CHECK(ServedProfile::is_wanted(with_profile({})));
  CHECK(ServedProfile::of(with_profile({}), rank, 0) == nullptr);
  CHECK(ServedProfile::of(with_profile(wire::Bytes(99)), rank, 0) == nullptr);
  CHECK_FALSE(ServedProfile::is_wanted(Message{}));
  CHECK(ServedProfile::of(Message{}, rank, 0) == nullptr);
}

std::vector<std::string> names_of_all(const ServerProcessGlobalProfile& profile) {
  std::vector<std::string> names;
  for (const Events& thread : profile.process_global_function_events()) {
    for (const Event& each : thread) names.push_back(each.name);
  }
  std::sort(names.begin(), names.end());
  return names;
}

TEST_CASE("a profile of served calls has all events from its start to its end") {
  const Ranks ranks(2);
  ServerProcessGlobalProfile outer, inner;
  std::string table;
  const auto errors = ranks.run([&](int rank) {
    init_rpc(ranks.options(rank));
    if (rank == 0) {
      const core::RankState& own = core::rank_state();
      const auto call = [](const char* op) { rpc_sync(1, op, tensor::ones({1}), tensor::ones({1})); };
      const auto as_server = [&](auto body) {
        core::ThreadState state = core::thread_state();
        state.rank = &ranks.state(1);
        const core::ThreadStateGuard guard(std::move(state));
        body();
      };
      call("div");
      as_server([&] { outer.enter(), outer.enter(); });
      call("add");
      rpc_sync(0, "neg", tensor::ones({1}));  // served by another rank
      as_server([&] { inner.enter(); });
      call("sub");
      inner.leave();
      call("mul");
      outer.leave();
      outer.leave();
      call("div");
      if (is_server_profiled() || !server_profiles_of(own).empty()) throw Error(ErrorKind::Failed, "one is on");
    }
    shutdown();
  });
  CHECK(errors == no_errors(2));
  CHECK(names_of_all(outer) == std::vector<std::string>{"aten::add", "aten::mul", "aten::sub"});
  CHECK(names_of_all(inner) == std::vector<std::string>{"aten::sub"});
  CHECK_THAT(outer.table(), Catch::Contains("aten::mul"));
  for (const Events& thread : outer.process_global_function_events()) {
    for (const Event& each : thread) CHECK(each.node == 1);
  }
}

TEST_CASE("the time that calls wait for a thread is reported once it is requested") {
  constexpr char kKey[] = "agent.gil_average_wait_time_us";
  std::vector<bool> has;
  std::string value;
  profiled(1, [&] {
    const auto look = [&] {
      rpc_sync(0, doubled, tensor::ones({1}));
      std::map<std::string, std::string> info;
      current_calls()->add_debug_info(info);
      has.push_back(info.contains(kKey));
      if (has.back()) value = info[kKey];
    };
    look();
    enable_gil_profiling(true);
    look();
    enable_gil_profiling(false);
    look();
  });
  CHECK(has == std::vector<bool>{false, true, false});
  CHECK(std::stod(value) > 0);
}

}  // namespace
}  // namespace distrun::rpc
