// Graceful shutdowns: the work that they wait for, the calls that they refuse, and the errors if they cannot end.
#include <catch2/catch.hpp>

#include <atomic>
#include <thread>

#include <distrun/common/base/error.hpp>
#include <distrun/runtime/future/unseen_errors.hpp>
#include <distrun/runtime/rpc/calls/call.hpp>
#include <distrun/runtime/rpc/calls/calls.hpp>
#include <distrun/runtime/rpc/functions/register.hpp>
#include <distrun/runtime/rpc/session/hooks.hpp>
#include <distrun/runtime/rpc/session/meeting.hpp>

#include "faulty_ranks.hpp"
#include "session_ranks.hpp"
#include "unit/future/handlers.hpp"

namespace distrun::rpc {
namespace {

using distrun::testing::Door;
using distrun::testing::eventually;
using distrun::testing::soon;

int quiet_one() { return 1; }
DISTRUN_RPC(quiet_one)

// Returns when the door is open. A callback that is attached before that runs in the pool; attached to a future that is
// complete, it would run in the thread that attaches it.
Door* g_door_of_later = nullptr;
int quiet_later() {
  g_door_of_later->pass_seen();
  return 1;
}
DISTRUN_RPC(quiet_later)

void quiet_shutdown(bool graceful) { shutdown({.graceful = graceful}); }
DISTRUN_RPC(quiet_shutdown)

// Workers rendezvous without calls, so that all counts are those of the test.
struct WithoutMeeting {
  static SessionHooks hooks() {
    SessionHooks all;
    all.wait_all_workers = [](double) {};
    return all;
  }
  UseHooks use{hooks()};
};

// A call with a result that stays at the callee; plans of faults call it "remote".
CallRequest remote_call(int to, bool is_repeated) {
  CallRequest request{Destination(to).within(0.05), target_of("quiet_one"), {}};
  request.sections.push_back({SectionTag::Owned, {}});
  if (is_repeated) request.sections.push_back({SectionTag::Repeated, {}});
  return request;
}

// Runs two workers with these faults; worker 0 makes the call, and both shut down.
std::vector<std::string> errors_with(const std::string& faults, bool is_repeated, double timeout) {
  const Ranks ranks(2);
  return ranks.run([&](int rank) {
    const WithoutMeeting hooks;
    init_rpc(faulty_options(ranks, rank, faults));
    if (rank == 0) {
      const auto answer = current_calls()->sender().call(remote_call(1, is_repeated));
      (void)text_of_error([&] { answer.wait(); });
    }
    shutdown({.timeout = timeout});
  });
}

TEST_CASE("a graceful shutdown waits for a callback that blocks, and later calls of the callback are answered") {
  const Ranks ranks(2);
  Door attached;
  g_door_of_later = &attached;
  std::atomic<bool> is_over{false};
  std::atomic<int> got{0};
  std::thread opener([&] {
    CHECK_FALSE(eventually(std::chrono::milliseconds(300), [&] { return is_over.load(); }));
    ranks.store()->set("go", "1");
  });
  const auto errors = ranks.run([&](int rank) {
    init_rpc(ranks.options(rank));
    if (rank == 1) {
      rpc_async<int>(0, "quiet_later").then([&](const Future<int>& one) {
        ranks.store()->wait({"go"}, std::chrono::seconds(60));
        got = one.wait() + rpc_sync<int>(0, "quiet_one");
      });
      attached.open();
    }
    shutdown();
    is_over = true;
  });
  opener.join();
  CHECK(errors == no_errors(2));
  CHECK(got == 2);
}

TEST_CASE("a handler that shuts down gracefully would wait for itself, and gets an error") {
  const Ranks ranks(2);
  std::string of_call, of_callback;
  const auto errors = ranks.run([&](int rank) {
    init_rpc(ranks.options(rank));
    if (rank == 0) {
      of_call = text_of_error([] { rpc_sync(1, "quiet_shutdown", true); });
      const Future<int> one;
      const Future<int> next = one.then([&](const Future<int>&) {
        of_callback = text_of_error([] { shutdown({.timeout = 60}); });
        return 1;
      });
      one.set_result(1);
      next.wait();
    }
    barrier({name_of(0), name_of(1)});
    shutdown();
  });
  CHECK(errors == no_errors(2));
  CHECK_THAT(of_call, Catch::Contains("was called by one (handler \"quiet_shutdown\", called by worker 0)") &&
                          Catch::Contains("shutdown({.graceful = false})"));
  CHECK_THAT(of_callback, Catch::Contains("a graceful shutdown waits until no handler of this worker runs") &&
                              Catch::Contains("session_quiet_test.cpp:"));
}

TEST_CASE("a handler may leave at once") {
  const Ranks ranks(2);
  const auto errors = ranks.run([&](int rank) {
    init_rpc(ranks.options(rank));
    if (rank == 0) (void)text_of_error([] { rpc_sync(1, "quiet_shutdown", false); });
  });
  CHECK(errors == no_errors(2));
  CHECK(soon([&] { return !ranks.error_as(1, [] { get_worker_info(); }).empty(); }));
}

TEST_CASE("a shutdown that takes too long names the callbacks that run") {
  const Ranks ranks(2);
  Door attached, door;
  g_door_of_later = &attached;
  std::vector<std::string> errors = ranks.run([&](int rank) {
    init_rpc(ranks.options(rank));
    if (rank == 1) {
      rpc_async<int>(0, "quiet_later").then([&](const Future<int>&) { door.pass_seen(); });
      attached.open();
    }
    shutdown({.timeout = 0.3});
  });
  door.open();
  CHECK_THAT(errors[0], Catch::Contains("worker1 (1 handler running: callback of future \"quiet_later\" made at ") &&
                            Catch::Contains("session_quiet_test.cpp:"));
  CHECK_THAT(errors[0], !Catch::Contains("is quiet by now"));
  CHECK(soon([&] { return future::handler_pool_of(ranks.state(1)).statistics().open == 0; }));
}

TEST_CASE("a shutdown that waits for lost or doubled calls names their workers and counts") {
  const std::vector<std::string> lost = errors_with("1:drop:remote:1", false, 0.3);
  for (const std::string& error : lost) {
    CHECK_THAT(error, Catch::Contains("worker0 has sent 1 call to worker1, which has received 0"));
  }
  const std::vector<std::string> doubled = errors_with("1:dup:remote:1", false, 0.3);
  for (const std::string& error : doubled) {
    CHECK_THAT(error, Catch::Contains("worker0 has sent 1 call to worker1, which has received 2"));
  }
}

TEST_CASE("a shutdown does not wait for repeated calls, whether they were lost or doubled") {
  CHECK(errors_with("1:drop:remote:1", true, 60) == no_errors(2));
  CHECK(errors_with("1:dup:remote:1", true, 60) == no_errors(2));
}

TEST_CASE("a shutdown with counts that disagree for a second shows this on its rank") {
  const Ranks ranks(2);
  std::atomic<bool> is_seen{false};
  std::thread watcher([&] {
    is_seen = soon([&] {
      const std::vector<std::string> shown = future::unseen_errors_of(ranks.state(0)).take();
      return std::any_of(shown.begin(), shown.end(), [](const std::string& each) {
        return each.find(
                   "the shutdown of RPC does not end: worker0 has sent 1 call to worker1, which has received 0") !=
               std::string::npos;
      });
    });
  });
  const auto errors = ranks.run([&](int rank) {
    const WithoutMeeting hooks;
    init_rpc(faulty_options(ranks, rank, "1:drop:remote:1"));
    if (rank == 0) {
      const auto answer = current_calls()->sender().call(remote_call(1, false));
      (void)text_of_error([&] { answer.wait(); });
    }
    (void)text_of_error([&] { shutdown({.timeout = 3}); });
  });
  watcher.join();
  CHECK(errors == no_errors(2));
  CHECK(is_seen);
}

}  // namespace
}  // namespace distrun::rpc
