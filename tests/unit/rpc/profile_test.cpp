// Calls in their caller's profile. Work of the callees: remote_profile_test.cpp.
#include <catch2/catch.hpp>

#include <distrun/common/base/error.hpp>
#include <distrun/runtime/profiler/profile.hpp>
#include <distrun/runtime/profiler/span.hpp>
#include <distrun/runtime/rpc/calls/call.hpp>
#include <distrun/runtime/rpc/calls/calls.hpp>
#include <distrun/runtime/rpc/functions/register.hpp>
#include <distrun/runtime/rpc/session/detail/session_state.hpp>
#include <distrun/runtime/rpc/session/meeting.hpp>
#include <distrun/runtime/tensor/core/factories.hpp>

#include "session_ranks.hpp"

namespace distrun::rpc {
namespace {

using profiler::Profile;
using Names = std::vector<std::string>;

int one_more(int number) { return number + 1; }
DISTRUN_RPC(one_more)
int fail() { throw Error(ErrorKind::InvalidArgument, "ValueError", "Expected error"); }
DISTRUN_RPC(fail)
int pass_on(int number) { return rpc_sync(0, one_more, number); }
DISTRUN_RPC(pass_on)

// Done when open_door() is called.
const Future<int>& door() {
  static const auto* const only = new Future<int>;
  return *only;
}
Future<int> pass_door() { return door(); }
DISTRUN_RPC_ASYNC(pass_door)
void open_door() { door().set_result(0); }
DISTRUN_RPC(open_door)

// Returns the names of local events, except operators.
Names names_of(const Profile& profile) {
  Names names;
  for (const profiler::Event& each : profile.events()) {
    if (!each.is_remote && !each.name.starts_with("aten::")) names.push_back(each.name);
  }
  return names;
}

// Runs the body on rank 0 between init_rpc and shutdown; rank 1 only answers.
void as_caller(const std::function<void()>& body) {
  const Ranks ranks(2);
  const auto errors = ranks.run([&](int rank) {
    init_rpc(ranks.options(rank));
    if (rank == 0) body();
    shutdown();
  });
  CHECK(errors == no_errors(2));
}

TEST_CASE("calls are recorded with their kind, callee and workers, before their futures complete") {
  Names names;
  std::vector<profiler::Event> events;
  as_caller([&] {
    const Tensor tensor = tensor::ones({2});
    Profile profile;
    {
      const profiler::Span span("all");
      rpc_sync(1, one_more, 1);
      rpc_async(1, one_more, 1).wait();
      rpc_async("worker1", "add", tensor, 1).wait();
      rpc_sync("worker0", "mul", tensor, 2);
      CallRequest request{1, target_of("one_more"), {{to_value(1)}, {}}};
      request.mode = CallMode::Remote;
      current_calls()->sender().call(std::move(request)).wait();
      names = names_of(profile);
    }
    events = profile.events();
    std::erase_if(events, [](const profiler::Event& each) { return each.is_remote; });
  });
  CHECK(names == Names{"rpc_sync#one_more(worker0 -> worker1)", "rpc_async#one_more(worker0 -> worker1)",
                       "rpc_async#aten::add(worker0 -> worker1)", "rpc_sync#aten::mul(worker0 -> worker0)",
                       "rpc_remote#one_more(worker0 -> worker1)"});
  REQUIRE(events.size() == 6);
  CHECK(events[0].name == "all");
  for (const profiler::Event& each : events) {
    CHECK(each.begin <= each.end);
    CHECK(events[0].begin <= each.begin);
    CHECK(each.end <= events[0].end);
    CHECK(each.thread == events[0].thread);
    CHECK(each.node == 0);
    CHECK(each.is_async == (each.name.starts_with("rpc_async") || each.name.starts_with("rpc_remote")));
  }
}

TEST_CASE("calls that fail are recorded, and those that could not be sent are not") {
  Names names;
  std::string error;
  as_caller([&] {
    const Profile profile;
    text_of_error([] { rpc_sync(1, fail); });
    error = text_of_error([] { rpc_async(1, fail).wait(); });
    text_of_error([] { rpc_sync("worker2", "one_more", 1); });
    text_of_error([] { rpc_async("worker2", "one_more", 1); });
    names = names_of(profile);
  });
  CHECK(names == Names{"rpc_sync#fail(worker0 -> worker1)", "rpc_async#fail(worker0 -> worker1)"});
  CHECK(error == "Expected error");
}

TEST_CASE("the event of a call that times out ends at the timeout") {
  Names names;
  std::string error;
  as_caller([&] {
    const Profile profile;
    error = text_of_error([] { rpc_sync(to(1).within(std::chrono::milliseconds(20)), pass_door); });
    names = names_of(profile);
    rpc_sync(1, open_door);
  });
  CHECK(names == Names{"rpc_sync#pass_door(worker0 -> worker1)"});
  CHECK_THAT(error, Catch::Contains("ran for more than set timeout"));
}

TEST_CASE("callbacks record their calls in the profile of the thread that attached them") {
  Names names;
  as_caller([&] {
    const Profile profile;
    const auto last =
        rpc_async(1, one_more, 1).then([](const Future<int>& done) { return rpc_sync(1, one_more, done.wait()); });
    if (last.wait() != 3) throw Error(ErrorKind::Failed, "wrong");
    names = names_of(profile);
  });
  CHECK(names == Names{"rpc_async#one_more(worker0 -> worker1)", "rpc_sync#one_more(worker0 -> worker1)"});
}

TEST_CASE("other threads' calls, and those of the callee, are only in their own profiles") {
  const Ranks ranks(2);
  std::vector<Names> names(2);
  const auto errors = ranks.run([&](int rank) {
    init_rpc(ranks.options(rank));
    {
      const Profile profile;
      rpc_sync(1 - rank, pass_on, 1);
      names[static_cast<std::size_t>(rank)] = names_of(profile);
    }
    rpc_sync(1 - rank, one_more, 1);
    shutdown();
  });
  CHECK(errors == no_errors(2));
  CHECK(names[0] == Names{"rpc_sync#pass_on(worker0 -> worker1)"});
  CHECK(names[1] == Names{"rpc_sync#pass_on(worker1 -> worker0)"});
}

TEST_CASE("calls of a meeting are recorded where the thread has a profile") {
  const Ranks ranks(2);
  Names names;
  const auto errors = ranks.run([&](int rank) {
    init_rpc(ranks.options(rank));
    if (rank == 1) {
      const Profile profile;
      all_gather(to_value(rank));
      names = names_of(profile);
    } else {
      all_gather(to_value(rank));
    }
    shutdown();
  });
  CHECK(errors == no_errors(2));
  REQUIRE(names.size() == 1);
  CHECK(names[0].starts_with("rpc_async#"));
  CHECK(names[0].ends_with("(worker1 -> worker0)"));
}

}  // namespace
}  // namespace distrun::rpc
