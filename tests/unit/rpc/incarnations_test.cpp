// Successive workers with one id: messages of one are never attributed to another.
#include <catch2/catch.hpp>

#include <atomic>
#include <memory>

#include <distrun/common/base/error.hpp>
#include <distrun/runtime/rpc/calls/call.hpp>
#include <distrun/runtime/rpc/calls/calls.hpp>
#include <distrun/runtime/rpc/functions/register.hpp>
#include <distrun/runtime/rpc/session/detail/control.hpp>
#include <distrun/runtime/rpc/session/detail/member_log.hpp>
#include <distrun/runtime/rpc/session/detail/session_state.hpp>
#include <distrun/runtime/rpc/session/meeting.hpp>

#include "session_ranks.hpp"
#include "support/process.hpp"
#include "support/sandbox.hpp"
#include "unit/future/handlers.hpp"

namespace distrun::rpc {
namespace {

using namespace std::chrono_literals;

// Calls that have begun wait here until the test opens the door. Each call holds a reference, since a late one may
// outlive its case.
struct Waiting {
  distrun::testing::Door door;
  std::atomic<int> begun{0};
};
std::shared_ptr<Waiting>& waiting() {
  static std::shared_ptr<Waiting> waiting;
  return waiting;
}

std::int64_t incarnation_hold(std::int64_t number) {
  const std::shared_ptr<Waiting> here = waiting();
  ++here->begun;
  here->door.pass_unseen();
  return number;
}
DISTRUN_RPC(incarnation_hold)
std::int64_t incarnation_here() { return get_worker_info().incarnation(); }
DISTRUN_RPC(incarnation_here)

std::string join_group(const Ranks& ranks, int rank) {
  return ranks.error_as(rank, [&] { init_rpc(ranks.elastic(rank)); });
}
void wait_begun(int count) {
  REQUIRE(distrun::testing::soon([&] { return waiting()->begun == count; }));
}
// Ends the session as a kill does: without leaving the group.
void kill_worker(const Ranks& ranks, int rank) { end_session(ranks.state(rank)); }

}  // namespace

TEST_CASE("an answer to a worker that has left is not delivered to its successor") {
  const bool is_killed = GENERATE(false, true);
  const Ranks ranks(2);
  waiting() = std::make_shared<Waiting>();
  REQUIRE(join_group(ranks, 0).empty());
  REQUIRE(join_group(ranks, 1).empty());
  const auto ask = [&](std::int64_t number) {
    future::Future<std::int64_t> answer;
    CHECK(ranks.error_as(1, [&] { answer = rpc_async<std::int64_t>("worker0", "incarnation_hold", number); }).empty());
    return answer;
  };
  const auto first = ask(7);
  wait_begun(1);
  if (is_killed) {
    kill_worker(ranks, 1);
  } else {
    CHECK(ranks.error_as(1, [] { shutdown({.graceful = false}); }).empty());
  }
  CHECK_THROWS_AS(first.wait(), Error);
  REQUIRE(join_group(ranks, 1).empty());
  const auto second = ask(42);  // has the same number as the earlier call
  wait_begun(2);
  waiting()->door.open();
  CHECK(second.wait() == 42);
}

TEST_CASE("a loss that is reported late does not affect the successor of the lost worker") {
  const Ranks ranks(2);
  waiting() = std::make_shared<Waiting>();
  REQUIRE(join_group(ranks, 0).empty());
  REQUIRE(join_group(ranks, 1).empty());
  CHECK(ranks.error_as(1, [] { shutdown(); }).empty());
  REQUIRE(join_group(ranks, 1).empty());
  const std::string error = ranks.error_as(0, [&] {
    const auto answer = rpc_async<std::int64_t>("worker1", "incarnation_hold", 5);
    wait_begun(1);
    const auto calls = find_calls();
    calls->lose(WorkerInfo("worker1", WorkerKey(1, 1)), Error(ErrorKind::Disconnected, "it was killed"));
    waiting()->door.open();
    CHECK(answer.wait() == 5);
    barrier({"worker0"});
  });
  CHECK(error.empty());
}

TEST_CASE("a call to a worker that has left fails in its future, with the reason") {
  const Ranks ranks(2);
  REQUIRE(join_group(ranks, 0).empty());
  REQUIRE(join_group(ranks, 1).empty());
  CHECK(ranks
            .error_as(0,
                      [&] {
                        const WorkerInfo info = get_worker_info("worker1");
                        CHECK(ranks.error_as(1, [] { shutdown(); }).empty());
                        CHECK(distrun::testing::soon([] { return get_worker_infos().size() == 1; }));
                        const auto answer = rpc_async<std::int64_t>(info, "incarnation_here");
                        CHECK_THAT(text_of_error([&] { answer.wait(); }), Catch::Contains("worker1 has left"));
                        CHECK_THAT(text_of_error([] { rpc_async<std::int64_t>("worker1", "incarnation_here"); }),
                                   Catch::Contains("could not find destination name worker1"));
                      })
            .empty());
}

TEST_CASE("a killed worker is removed from all lists, and another may join in its place at once") {
  const Ranks ranks(3);
  for (const int rank : {0, 1, 2}) REQUIRE(join_group(ranks, rank).empty());
  kill_worker(ranks, 1);
  const auto infos_of = [&](int rank) {
    std::string names;
    CHECK(ranks
              .error_as(rank,
                        [&] {
                          for (const WorkerInfo& each : get_worker_infos()) {
                            names += each.name() + "#" + std::to_string(each.incarnation()) + " ";
                          }
                        })
              .empty());
    return names;
  };
  for (const int rank : {0, 2}) {
    CHECK(distrun::testing::eventually(10s, [&] { return infos_of(rank) == "worker0#1 worker2#1 "; }));
    const std::string error = ranks.error_as(rank, [] { rpc_sync<std::int64_t>("worker1", "incarnation_here"); });
    CHECK_THAT(error, Catch::Contains("worker1 has left"));
  }
  const auto begin = base::system_clock().now();
  REQUIRE(join_group(ranks, 1).empty());
  CHECK(base::system_clock().now() - begin < distrun::testing::at_latest(900ms));
  for (const int rank : {0, 1, 2}) CHECK(infos_of(rank) == "worker0#1 worker1#2 worker2#1 ");
  for (const int rank : {0, 1, 2}) {
    CHECK(ranks.error_as(rank, [] { CHECK(rpc_sync<std::int64_t>("worker1", "incarnation_here") == 2); }).empty());
  }
}

TEST_CASE("a WorkerInfo stands for the worker that it was obtained from, and not for a successor") {
  const Ranks ranks(2);
  REQUIRE(join_group(ranks, 0).empty());
  REQUIRE(join_group(ranks, 1).empty());
  const std::string error = ranks.error_as(0, [&] {
    const WorkerInfo first = get_worker_info("worker1");
    CHECK(rpc_sync<std::int64_t>(first, "incarnation_here") == 1);
    CHECK(ranks.error_as(1, [] { shutdown(); }).empty());
    REQUIRE(join_group(ranks, 1).empty());
    const WorkerInfo second = get_worker_info("worker1");
    CHECK(first == second);
    CHECK_FALSE(first.matches(second));
    CHECK_THAT(text_of_error([&] { rpc_sync<std::int64_t>(first, "incarnation_here"); }),
               Catch::Contains("worker1 has left, and another worker has joined as worker1 since"));
    CHECK(rpc_sync<std::int64_t>(second, "incarnation_here") == 2);
    CHECK(rpc_sync<std::int64_t>("worker1", "incarnation_here") == 2);
    CHECK(rpc_sync<std::int64_t>(WorkerInfo("worker1", 1), "incarnation_here") == 2);
  });
  CHECK(error.empty());
}

TEST_CASE("workers meet with the successor of a worker that has left, any number of times") {
  const Ranks ranks(2);
  const auto meet = [&](int times) {
    return ranks.run([&](int) {
      for (int i = 0; i < times; ++i) barrier({"worker0", "worker1"});
    });
  };
  REQUIRE(join_group(ranks, 0).empty());
  for (int round = 0; round < 3; ++round) {
    REQUIRE(join_group(ranks, 1).empty());
    CHECK(meet(2 + round) == no_errors(2));
    CHECK(ranks.error_as(1, [] { shutdown(); }).empty());
  }
}

TEST_CASE("the log of a group stays small, however many workers have joined and left") {
  const auto store = std::make_shared<HashStore>();
  MemberLog log(store);
  Member stays;
  stays.name = "stays";
  log.add(stays);
  std::size_t largest = 0;
  for (int round = 0; round < 3000; ++round) {
    Member member;
    member.name = "worker1";
    member.id = 1;
    member.address = "uds:distrun-rpc-0123456789abcdef;pid:12345";
    member.incarnation = MemberLog::next_turn(*store, 1).incarnation;
    CHECK(member.incarnation == static_cast<Incarnation>(round + 1));
    log.add(member);
    log.remove(member);
    log.remove(member);  // reported by several workers
    largest = std::max(largest, store->get("log").size());
  }
  CHECK(largest < 80'000);
  REQUIRE(log.members().size() == 1);
  CHECK(log.members().front().name == "stays");
  CHECK(store->num_keys() == 3);  // the log, and two counts
}

TEST_CASE("workers that leave or die leave nothing in the store, even if a member confirms that too late") {
  const Ranks ranks(2);
  REQUIRE(join_group(ranks, 0).empty());
  base::Nanoseconds shortest = 1h;
  std::int64_t keys = 0;
  for (Incarnation round = 1; round <= 20; ++round) {
    REQUIRE(join_group(ranks, 1).empty());
    const base::TimePoint begin = base::system_clock().now();
    if (round % 2 == 0) {
      kill_worker(ranks, 1);
    } else {
      CHECK(ranks.error_as(1, [] { shutdown(); }).empty());
      shortest = std::min(shortest, base::system_clock().now() - begin);
    }
    Member left;
    left.name = "worker1";
    left.id = 1;
    left.incarnation = round;
    Control late;
    late.kind = ControlKind::Leave;
    late.text = to_text(left);
    CHECK(ranks.error_as(0, [&] { session_state().get()->receive(worker_of(left), wire::encode(late)); }).empty());
    if (round == 2) keys = ranks.store()->num_keys();
  }
  CHECK(ranks.store()->num_keys() == keys);
  CHECK(shortest < 900ms);  // the leave did not wait its full second for the member to confirm
}

TEST_CASE("log entries of one worker do not affect the next worker with its id") {
  MemberLog log(std::make_shared<HashStore>());
  Member first, second;
  first.name = second.name = "worker1";
  first.id = second.id = 1;
  second.incarnation = 2;
  log.add(first);
  log.add(second);
  log.remove(first);
  REQUIRE(log.members().size() == 1);
  CHECK(log.contains(second));
  CHECK_FALSE(log.contains(first));
}

}  // namespace distrun::rpc
