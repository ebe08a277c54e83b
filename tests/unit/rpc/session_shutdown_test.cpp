// The ends of sessions.
#include <catch2/catch.hpp>

#include <atomic>
#include <condition_variable>
#include <mutex>

#include <distrun/common/base/error.hpp>
#include <distrun/runtime/rpc/calls/call.hpp>
#include <distrun/runtime/rpc/functions/register.hpp>
#include <distrun/runtime/rpc/session/hooks.hpp>
#include <distrun/runtime/rpc/session/meeting.hpp>

#include "session_ranks.hpp"

namespace distrun::rpc {
namespace {

// A chain of calls without waits: each makes the next one, to the next rank.
std::atomic<int> links{0};
void link(int left) {
  ++links;
  const int next = (get_worker_info().id() + 1) % static_cast<int>(get_worker_infos().size());
  if (left > 0) rpc_async(next, "link", left - 1);
}
DISTRUN_RPC(link)

// Calls that last until a test ends them.
std::mutex mutex;
std::condition_variable changed;
int inside = 0;
bool is_open = false;
void stay() {
  std::unique_lock lock(mutex);
  ++inside;
  changed.notify_all();
  changed.wait_for(lock, std::chrono::seconds(60), [] { return is_open; });
  --inside;
  changed.notify_all();
}
DISTRUN_RPC(stay)

void open(bool now_open) {
  const std::lock_guard lock(mutex);
  is_open = now_open;
  changed.notify_all();
}
void wait_inside(int wanted) {
  std::unique_lock lock(mutex);
  changed.wait_for(lock, std::chrono::seconds(60), [&] { return inside == wanted; });
}

TEST_CASE("no worker leaves while calls run or make further calls") {
  const Ranks ranks(4);
  links = 0;
  const auto errors = ranks.run([&](int rank) {
    init_rpc(ranks.options(rank));
    if (rank == 0) {
      for (int chain = 0; chain < 5; ++chain) rpc_async(1 + chain % 3, "link", 40);
    }
    shutdown();
  });
  CHECK(errors == no_errors(4));
  CHECK(links == 5 * 41);
}

TEST_CASE("a single worker shuts down, and then there is no session") {
  const Ranks ranks(1);
  const std::string error = ranks.error_as(0, [&] {
    init_rpc(ranks.options(0));
    rpc_sync("worker0", "link", 3);
    shutdown();
    rpc_sync("worker0", "link", 0);
  });
  CHECK_THAT(error, Catch::StartsWith("RuntimeError: RPC has not been initialized"));
}

TEST_CASE("a shutdown that is not graceful is immediate, with any workers still there") {
  const Ranks ranks(3);
  const auto errors = ranks.run([&](int rank) {
    init_rpc(ranks.options(rank));
    if (rank == 0) shutdown({.graceful = false});
  });
  CHECK(errors == no_errors(3));
}

TEST_CASE("the end of a test ends a session, and later calls are errors") {
  const Ranks ranks(2);
  auto errors = ranks.run([&](int rank) { init_rpc(ranks.options(rank)); });
  CHECK(errors == no_errors(2));
  end_session(ranks.state(1));
  end_session(ranks.state(1));
  CHECK_FALSE(ranks.error_as(0, [] { rpc_sync(1, "link", 0); }).empty());
  CHECK(ranks.error_as(1, [] { rpc_sync(0, "link", 0); }).find("RPC has not been initialized") != std::string::npos);
}

TEST_CASE("a shutdown that takes too long names the absent workers, and their running calls") {
  const Ranks ranks(3);
  open(false);
  std::vector<std::string> errors;
  {
    // Rank 2 has a call that stays, rank 1 waits for it; both are in their shutdown.
    errors = ranks.run([&](int rank) {
      init_rpc(ranks.options(rank));
      std::optional<future::Future<Value>> call;
      if (rank == 1) call = rpc_async(to("worker2").within(0.0), "stay");
      if (rank == 1) wait_inside(1);
      std::string error;
      try {
        shutdown({.timeout = 0.5});
      } catch (const Error& why) {
        error = why.what();
      }
      if (is_initialized()) error += " and is still there";
      throw Error(ErrorKind::Failed, error);
    });
  }
  open(true);
  wait_inside(0);
  CHECK_THAT(errors[0], Catch::Contains("shutdown: after 500.0 ms") && Catch::Contains("still missing: ") &&
                            Catch::Contains("worker1 (1 waiting)") && Catch::Contains("worker2 (1 call running)"));
  for (const std::string& error : errors) {
    CHECK_FALSE(error.empty());
    CHECK_THAT(error, !Catch::Contains("and is still there"));
  }
}

TEST_CASE("a worker that has not called shutdown is named") {
  const Ranks ranks(2);
  const auto errors = ranks.run([&](int rank) {
    SessionHooks hooks;
    hooks.wait_all_workers = [](double) {};
    const UseHooks use(hooks);
    init_rpc(ranks.options(rank));
    barrier({name_of(0), name_of(1)});
    if (rank == 0) shutdown({.timeout = 0.1});
  });
  CHECK_THAT(errors[0], Catch::Contains("still missing: worker1 (has not called shutdown)"));
}

TEST_CASE("a failing step of a shutdown is reported, and the session still ends") {
  const Ranks ranks(3);
  const auto errors = ranks.run([&](int rank) {
    SessionHooks hooks;
    if (rank != 0) {
      hooks.after_broadcast = [] { throw Error(ErrorKind::Failed, "simulation"); };
      hooks.delete_references = [] { throw Error(ErrorKind::Failed, "simulation rref"); };
    }
    const UseHooks use(hooks);
    init_rpc(ranks.options(rank));
    const std::string error = text_of_error([] { shutdown(); });
    throw Error(ErrorKind::Failed, error + (is_initialized() ? " and is still there" : ""));
  });
  CHECK_THAT(errors[0], Catch::Contains("timed out in _all_gather"));
  for (std::size_t rank : {1U, 2U}) CHECK_THAT(errors[rank], Catch::Contains("simulation rref"));
  for (const std::string& error : errors) CHECK_THAT(error, !Catch::Contains("and is still there"));
  const auto again = ranks.run([&](int rank) {
    init_rpc(ranks.options(rank));
    shutdown();
  });
  CHECK(again == no_errors(3));
}

TEST_CASE("hooks are restored") {
  const Ranks ranks(1);
  int calls = 0;
  const std::string error = ranks.error_as(0, [&] {
    {
      SessionHooks hooks;
      hooks.wait_all_workers = [&](double timeout) { calls += timeout == 7 ? 1 : 100; };
      const UseHooks use(hooks);
      init_rpc(ranks.options(0));
      shutdown({.timeout = 7});
    }
    init_rpc(ranks.options(0));
    shutdown();
  });
  CHECK(error.empty());
  CHECK(calls == 1);
}

TEST_CASE("a worker that is lost ends the shutdown of the others, by name") {
  const Ranks ranks(3);
  const auto errors = ranks.run([&](int rank) {
    SessionHooks hooks;
    hooks.wait_all_workers = [](double) {};
    const UseHooks use(hooks);
    init_rpc(ranks.options(rank));
    barrier({name_of(0), name_of(1), name_of(2)});
    if (rank == 2) {
      barrier({name_of(0), name_of(2)});
      return shutdown({.graceful = false});
    }
    if (rank == 0) barrier({name_of(0), name_of(2)});
    shutdown();
  });
  for (std::size_t rank : {0U, 1U}) CHECK_THAT(errors[rank], Catch::Contains("shutdown: worker2 is gone"));
}

}  // namespace
}  // namespace distrun::rpc
